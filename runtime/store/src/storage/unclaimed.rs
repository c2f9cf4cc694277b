//! What was loaded and does not belong to a collection yet.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::committer::Expiry;
use crate::compactor::Mark;
use crate::draft::Encoded;
use crate::log::{Batch, Change, Loader, Record};
use crate::{Collection, Entry, Event, EventKind};

/// Loaded records by key. Collections take theirs out when they are opened; keys of kinds that
/// are not installed stay, untouched.
#[derive(Debug, Default)]
pub(crate) struct Unclaimed {
    keys: BTreeMap<Arc<str>, Loaded>,
    marks: Vec<Mark>,
}

#[derive(Debug, Default)]
struct Loaded {
    state: Option<Record>,
    changes: Vec<Record>,
}

impl Loader for Unclaimed {
    fn state(&mut self, record: Record) {
        let key = Arc::clone(&record.key);
        self.keys.entry(key).or_default().state = Some(record);
    }

    fn batch(&mut self, batch: Batch) {
        self.marks.extend(Mark::of(&batch, 0));
        for record in batch.records {
            let loaded = self.keys.entry(Arc::clone(&record.key)).or_default();
            if loaded
                .state
                .as_ref()
                .is_none_or(|state| state.revision < record.revision)
            {
                loaded.changes.push(record);
            }
        }
    }
}

impl Unclaimed {
    /// When the loaded changes were written.
    pub(crate) fn take_marks(&mut self) -> Vec<Mark> {
        std::mem::take(&mut self.marks)
    }

    /// Moves everything under the prefix of `collection` into it. Returns what expires.
    pub(crate) fn claim(&mut self, collection: &Collection) -> Vec<Expiry> {
        let prefix = collection.prefix();
        let keys = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let keys: Vec<_> = keys
            .map(|(key, _)| Arc::clone(key))
            .take_while(|key| key.starts_with(prefix))
            .collect();
        let mut events = Vec::new();
        let mut expiring = Vec::new();
        let mut states = Vec::new();
        for key in keys {
            let Some(loaded) = self.keys.remove(&key) else { continue };
            let mut previous = loaded.state.map(|record| entry(collection, record).0);
            states.extend(previous.clone());
            for record in loaded.changes {
                let (entry, change) = entry(collection, record);
                let kind = match change {
                    Change::Put { .. } => EventKind::Put {
                        created: previous.is_none(),
                    },
                    Change::Delete => EventKind::Delete,
                };
                let event = Event::new(kind, Arc::clone(&entry), previous.take());
                if kind != EventKind::Delete {
                    previous = Some(entry);
                }
                events.push(Arc::new(event));
            }
            expiring.extend(previous.as_ref().and_then(Expiry::of));
        }
        events.sort_unstable_by_key(|event| event.revision());
        collection.restore(states, events);
        expiring
    }
}

fn entry(collection: &Collection, record: Record) -> (Arc<Entry>, Change) {
    let row = collection.indexer().row(&record.key, &record.bytes);
    let expires = match record.change {
        Change::Put { expires } => expires,
        Change::Delete => 0,
    };
    let encoded = Encoded {
        bytes: record.bytes,
        gap: record.gap,
    };
    let entry = Entry::new(record.key, record.revision, encoded, row, expires);
    (Arc::new(entry), record.change)
}
