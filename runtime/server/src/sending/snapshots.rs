//! Snapshots that unread lists were taken from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use planesmith_store::Collection;

/// The state of a collection that a list was taken from. Objects that are replaced later stay in memory for it.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    collection: Arc<Collection>,
    /// Bytes that the collection had superseded by then.
    superseded: u64,
    /// Bytes of the objects of the list.
    listed: usize,
}

/// The lists that are being sent.
#[derive(Debug, Default)]
pub(super) struct Snapshots {
    /// By the address of the collection.
    collections: HashMap<usize, Lists>,
}

/// The lists of one collection.
#[derive(Debug)]
struct Lists {
    collection: Arc<Collection>,
    /// Number of lists by the bytes that were superseded when they were taken.
    begun: BTreeMap<u64, usize>,
    /// Bytes of the objects of all of them.
    listed: usize,
}

impl Snapshot {
    /// Returns the snapshot of `collection` for a list that was read after `superseded` bytes of the collection were
    /// superseded, and whose objects have `listed` bytes.
    pub(crate) fn new(collection: &Arc<Collection>, superseded: u64, listed: usize) -> Self {
        Self {
            collection: Arc::clone(collection),
            superseded,
            listed,
        }
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.collection).addr()
    }
}

impl Snapshots {
    pub(super) fn insert(&mut self, snapshot: &Snapshot) {
        let lists = self.collections.entry(snapshot.address()).or_insert_with(|| Lists {
            collection: Arc::clone(&snapshot.collection),
            begun: BTreeMap::new(),
            listed: 0,
        });
        *lists.begun.entry(snapshot.superseded).or_default() += 1;
        lists.listed = lists.listed.saturating_add(snapshot.listed);
    }

    pub(super) fn remove(&mut self, snapshot: &Snapshot) {
        let Some(lists) = self.collections.get_mut(&snapshot.address()) else {
            return;
        };
        lists.listed = lists.listed.saturating_sub(snapshot.listed);
        if let Some(count) = lists.begun.get_mut(&snapshot.superseded) {
            *count -= 1;
            if *count == 0 {
                lists.begun.remove(&snapshot.superseded);
            }
        }
        if lists.begun.is_empty() {
            self.collections.remove(&snapshot.address());
        }
    }

    /// Bytes of superseded objects that these lists may keep in memory together. An object that several lists share
    /// counts once.
    pub(super) fn bytes(&self) -> usize {
        self.collections.values().map(Lists::bytes).sum()
    }
}

impl Lists {
    fn bytes(&self) -> usize {
        let oldest = self.begun.keys().next().copied().unwrap_or(u64::MAX);
        let superseded = self.collection.superseded_bytes().saturating_sub(oldest);
        usize::try_from(superseded).unwrap_or(usize::MAX).min(self.listed)
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::{Draft, Expect, MemoryLog, NoIndex, Op, Row, Storage, StorageOptions};

    use super::*;

    #[tokio::test]
    async fn states_that_lists_share_count_once_and_only_when_they_are_superseded() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
        let things = storage.collection("/things/", Arc::new(NoIndex));
        let put = async |expect| {
            let op = Op::Put {
                key: "/things/a".into(),
                draft: Draft::gapless(vec![b'x'; 1000]),
                row: Row::default(),
                expect,
                ttl: None,
            };
            things.write(op).await.expect("written");
        };
        put(Expect::Absent).await;
        let mut snapshots = Snapshots::default();
        let lists: Vec<_> = (0..1000).map(|_| Snapshot::new(&things, 0, 1500)).collect();
        lists.iter().for_each(|list| snapshots.insert(list));
        assert_eq!(snapshots.bytes(), 0, "all of them read the live state");
        put(Expect::Any).await;
        assert_eq!(snapshots.bytes(), 1000, "the former state is there once");
        let later = Snapshot::new(&things, things.superseded_bytes(), 300);
        snapshots.insert(&later);
        lists.iter().for_each(|list| snapshots.remove(list));
        assert_eq!(snapshots.bytes(), 0, "the last one read the newest state");
        put(Expect::Any).await;
        assert_eq!(snapshots.bytes(), 300, "no more than the list is about");
        snapshots.remove(&later);
        assert!(snapshots.collections.is_empty());
    }
}
