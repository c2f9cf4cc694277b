//! Keeps the graph up to date with the objects of one kind.

use std::sync::{Arc, Mutex};

use planesmith_store::{Collection, Entry, Event, EventKind, ListQuery, Position, Revision, WatchError, Watcher};

use super::graph::ObjectId;
use tokio::sync::Notify;

use super::{Shared, lock};
use crate::controllers::metadata::Metadata;

/// The number of objects that are read before other tasks get a turn.
const BATCH: usize = 512;

/// Follows the objects of one kind.
#[derive(Debug)]
pub(super) struct Follower {
    prefix: Arc<str>,
    collection: Arc<Collection>,
    /// The position up to which the graph has all changes of the kind; `None` before the kind was read.
    ///
    /// Not a revision: that of a quiet kind would become older than the history, although the graph misses nothing.
    known: Mutex<Option<Position>>,
    stopped: Notify,
}

impl Follower {
    /// Follows `collection`, whose keys all start with `prefix`.
    pub(super) fn new(prefix: Arc<str>, collection: Arc<Collection>) -> Self {
        Self {
            prefix,
            collection,
            known: Mutex::default(),
            stopped: Notify::new(),
        }
    }

    /// Stops following: the kind is no longer served.
    pub(super) fn stop(&self) {
        self.stopped.notify_one();
    }

    /// Keeps the graph up to date until the store is closed or the kind is removed.
    pub(super) async fn run(self: Arc<Self>, shared: Arc<Shared>) {
        loop {
            let (page, mut watcher) = self
                .collection
                .list_and_watch(&ListQuery::all(self.collection.prefix()));
            if lock(&self.known).is_some() {
                // Changes were missed: owners may have been deleted.
                let others = shared.graph().forget(&self.prefix);
                shared.queue.add(others);
            }
            for entries in page.entries.chunks(BATCH) {
                for entry in entries {
                    self.put(&shared, entry);
                }
                tokio::task::yield_now().await;
            }
            drop(page);
            loop {
                self.note(&watcher);
                shared.progress.notify_waiters();
                let next = tokio::select! {
                    next = watcher.next() => next,
                    () = self.stopped.notified() => return,
                };
                match next {
                    Ok(events) => events.iter().for_each(|event| self.apply(&shared, event)),
                    Err(WatchError::Closed) => return,
                    Err(WatchError::Compacted { .. }) => break,
                }
            }
        }
    }

    /// Records that the graph has all changes that the watcher returned.
    fn note(&self, watcher: &Watcher) {
        *lock(&self.known) = Some(watcher.position());
    }

    /// True if the graph misses a change up to `revision`.
    pub(super) fn is_behind(&self, revision: Revision) -> bool {
        let known = *lock(&self.known);
        known.is_none_or(|known| self.collection.has_changed(known, revision))
    }

    fn apply(&self, shared: &Shared, event: &Event) {
        match event.kind() {
            EventKind::Put { .. } => self.put(shared, event.entry()),
            EventKind::Delete => {
                let uid = Metadata::read(&event.entry().bytes()).uid;
                let id = self.id(event.entry());
                let attention = shared.graph().remove(&id, &uid);
                // Dependents no longer wait for the state of their owners.
                lock(&shared.unresolved).remove(&id);
                shared.queue.add(attention);
            }
        }
    }

    fn put(&self, shared: &Shared, entry: &Entry) {
        let metadata = Metadata::read(&entry.bytes());
        let attention = shared.graph().put(&self.id(entry), &metadata);
        shared.queue.add(attention);
    }

    fn id(&self, entry: &Entry) -> ObjectId {
        ObjectId {
            key: entry.key().into(),
            prefix: Arc::clone(&self.prefix),
        }
    }
}

impl Shared {
    /// Waits until the graph has all changes up to `revision`.
    pub(super) async fn catch_up_to(&self, revision: Revision) {
        loop {
            let mut progress = std::pin::pin!(self.progress.notified());
            // From here on nothing is missed.
            progress.as_mut().enable();
            if !self.is_behind(revision) {
                return;
            }
            progress.await;
        }
    }

    fn remote_is_starting(&self) -> bool {
        lock(&self.remote_followers)
            .values()
            .any(|follower| follower.is_starting())
    }

    fn is_behind(&self, revision: Revision) -> bool {
        let is_behind = |follower: &Arc<Follower>| follower.is_behind(revision);
        lock(&self.followers).values().any(is_behind) || self.remote_is_starting()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::{Draft, Expect, MemoryLog, NoIndex, Op, Row, Storage, StorageOptions};

    use super::*;

    async fn write(collection: &Arc<Collection>, name: &str) -> Revision {
        let op = Op::Put {
            key: format!("{}{name}", collection.prefix()).into(),
            draft: Draft::new(b"{}".to_vec(), 1),
            row: Row::default(),
            expect: Expect::Any,
            ttl: None,
        };
        collection.write(op).await.unwrap().entry.revision()
    }

    #[tokio::test]
    async fn a_quiet_kind_is_not_behind_when_the_history_moves_past_it() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let quiet = storage.collection("/quiet/", Arc::new(NoIndex));
        let busy = storage.collection("/busy/", Arc::new(NoIndex));
        write(&quiet, "a").await;
        let follower = Follower::new("/quiet/".into(), Arc::clone(&quiet));
        assert!(follower.is_behind(Revision(1)), "it knows nothing yet");
        let (_, watcher) = quiet.list_and_watch(&ListQuery::all("/quiet/"));
        follower.note(&watcher);
        for _ in 0..3 {
            write(&busy, "b").await;
        }
        let newest = storage.revision();
        storage.compact(newest);
        storage.compacted(newest).await;
        let later = write(&busy, "b").await;
        assert!(!follower.is_behind(later));
        let unknown = write(&quiet, "a").await;
        assert!(!follower.is_behind(later));
        assert!(follower.is_behind(unknown));
    }
}
