//! What was loaded and does not belong to a collection yet.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use crate::committer::Expiry;
use crate::compactor::Mark;
use crate::draft::Encoded;
use crate::log::{Batch, Change, Loader, Record};
use crate::{Collection, Entry, Event, EventKind, Indexer, Revision, StorageOptions};

/// Bytes of superseded states that may wait to be dropped while loading.
const FOLD: usize = 8 << 20;

/// Bytes of memory that a state takes beside its own.
const OVERHEAD: usize = 200;

/// Loaded records by key. Collections take theirs out when they are opened; keys of kinds that
/// are not installed stay, untouched.
///
/// A backend may hold more history than the store keeps: what is too old or too much is forgotten
/// while it is loaded, so that loading needs no more memory than running.
#[derive(Debug)]
pub(crate) struct Unclaimed {
    keys: BTreeMap<Arc<str>, Loaded>,
    marks: VecDeque<Mark>,
    memory: usize,
    disk: u64,
    memory_limit: usize,
    disk_limit: u64,
    /// What was written until then is too old, in milliseconds since 1970.
    oldest: u64,
    /// Changes up to here are forgotten: only what they led to counts.
    floor: Revision,
    /// Bytes of forgotten states that are still there.
    unfolded: usize,
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
        let mark = Mark::of(&batch, 0);
        let mut superseded = 0;
        for record in batch.records {
            let loaded = self.keys.entry(Arc::clone(&record.key)).or_default();
            if let Some(last) = loaded.changes.last().or(loaded.state.as_ref()) {
                superseded += last.bytes.len() + OVERHEAD;
            }
            if record.change == Change::Delete {
                superseded += record.bytes.len() + OVERHEAD;
            }
            loaded.changes.push(record);
        }
        let Some(mark) = mark else { return };
        self.memory += superseded;
        self.disk += mark.disk;
        self.marks.push_back(Mark {
            memory: superseded,
            ..mark
        });
        self.forget();
    }
}

impl Unclaimed {
    pub(crate) fn new(options: &StorageOptions) -> Self {
        let window = u64::try_from(options.window.as_millis()).unwrap_or(u64::MAX);
        Self {
            keys: BTreeMap::new(),
            marks: VecDeque::new(),
            memory: 0,
            disk: 0,
            memory_limit: options.history_bytes,
            disk_limit: options.journal_bytes,
            oldest: options.clock.now().saturating_sub(window),
            floor: Revision::ZERO,
            unfolded: 0,
        }
    }

    /// Ends loading. Returns when the loaded changes were written, and up to where they are
    /// forgotten.
    pub(crate) fn finish(&mut self) -> (VecDeque<Mark>, Revision) {
        self.fold();
        (std::mem::take(&mut self.marks), self.floor)
    }

    /// Bytes of the newest states of all keys.
    pub(crate) fn bytes(&self) -> u64 {
        let newest = self.keys.values().filter_map(|loaded| match loaded.changes.last() {
            Some(last) => (last.change != Change::Delete).then_some(last),
            None => loaded.state.as_ref(),
        });
        newest
            .map(|record| Record::weight(&record.key, record.bytes.len()))
            .sum()
    }

    fn forget(&mut self) {
        while let Some(mark) = self.marks.front() {
            let over = self.memory > self.memory_limit || self.disk > self.disk_limit;
            if !over && mark.at > self.oldest {
                break;
            }
            self.memory -= mark.memory;
            self.disk -= mark.disk;
            self.unfolded += mark.memory;
            self.floor = mark.revision;
            self.marks.pop_front();
        }
        if self.unfolded > FOLD {
            self.fold();
        }
    }

    /// Drops the states that forgotten changes superseded.
    fn fold(&mut self) {
        let floor = self.floor;
        self.unfolded = 0;
        self.keys.retain(|_, Loaded { state, changes }| {
            let forgotten = changes.partition_point(|record| record.revision <= floor);
            if let Some(last) = changes.drain(..forgotten).next_back() {
                *state = (last.change != Change::Delete).then_some(last);
            }
            state.is_some() || !changes.is_empty()
        });
    }

    /// Moves everything under the prefix of `collection` into it. Returns what expires.
    pub(crate) fn claim(&mut self, collection: &Collection) -> Vec<Expiry> {
        let prefix = collection.prefix();
        let keys = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let keys: Vec<_> = keys
            .map(|(key, _)| Arc::clone(key))
            .take_while(|key| key.starts_with(prefix))
            .collect();
        let indexer = collection.indexer();
        let mut events = Vec::new();
        let mut expiring = Vec::new();
        let mut states = Vec::new();
        for key in keys {
            let Some(loaded) = self.keys.remove(&key) else { continue };
            let mut previous = loaded.state.map(|record| entry(&*indexer, record).0);
            states.extend(previous.clone());
            for record in loaded.changes {
                let (entry, change) = entry(&*indexer, record);
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

fn entry(indexer: &dyn Indexer, record: Record) -> (Arc<Entry>, Change) {
    let expires = match record.change {
        Change::Put { expires } => expires,
        Change::Delete => 0,
    };
    let stored = Encoded {
        bytes: record.bytes,
        gap: record.gap,
    };
    let entry = Entry::loaded(record.key, record.revision, stored, expires, indexer);
    (Arc::new(entry), record.change)
}
