//! Loaded records that do not belong to a collection yet.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use crate::committer::Expiry;
use crate::compactor::Mark;
use crate::draft::Encoded;
use crate::log::{Batch, Change, Loader, Record};
use crate::progress::Reporter;
use crate::{Collection, Entry, Event, EventKind, Indexer, Revision, StorageOptions};

/// Maximum bytes of superseded states that wait to be dropped while loading.
const FOLD: usize = 8 << 20;

/// Minimum number of keys for a thread of their own.
const PER_THREAD: usize = 2048;

/// Approximate bytes of memory of a state in addition to its content.
const OVERHEAD: usize = 200;

/// Loaded records by key. Collections remove theirs when they are opened; keys of kinds that are not installed stay
/// unchanged.
///
/// A backend may have more history than the store keeps: changes that are too old or too many are forgotten while they
/// are loaded, so that loading needs no more memory than running.
#[derive(Debug)]
pub(crate) struct Unclaimed {
    keys: BTreeMap<Arc<str>, Loaded>,
    /// States that are not among the keys yet: all together cost less than one after the other.
    states: Vec<(Arc<str>, Loaded)>,
    marks: VecDeque<Mark>,
    memory: usize,
    disk: u64,
    memory_limit: usize,
    disk_limit: u64,
    /// Writes up to this time are too old, in milliseconds since 1970.
    oldest: u64,
    /// Changes up to this revision are forgotten: only their resulting states count.
    floor: Revision,
    /// Bytes of forgotten states that are not dropped yet.
    unfolded: usize,
    reporter: Reporter,
}

#[derive(Debug, Default)]
struct Loaded {
    state: Option<Record>,
    changes: Vec<Record>,
}

impl Loader for Unclaimed {
    fn expect(&mut self, bytes: u64) {
        self.reporter.expect(bytes);
    }

    fn state(&mut self, record: Record) {
        self.reporter
            .note(1, Record::stored_size(&record.key, record.bytes.len()));
        let key = Arc::clone(&record.key);
        let loaded = Loaded {
            state: Some(record),
            changes: Vec::new(),
        };
        self.states.push((key, loaded));
    }

    fn batch(&mut self, batch: Batch) {
        self.index();
        let mark = Mark::of(&batch, 0);
        let count = batch.records.len() as u64;
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
        self.reporter.note(count, mark.disk);
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
            states: Vec::new(),
            marks: VecDeque::new(),
            memory: 0,
            disk: 0,
            memory_limit: options.history_bytes,
            disk_limit: options.journal_bytes,
            oldest: options.clock.now().saturating_sub(window),
            floor: Revision::ZERO,
            unfolded: 0,
            reporter: Reporter::new(options.on_progress.clone()),
        }
    }

    /// Ends loading. Returns the times of the loaded changes, and the floor.
    pub(crate) fn finish(&mut self) -> (VecDeque<Mark>, Revision) {
        self.index();
        self.fold();
        (std::mem::take(&mut self.marks), self.floor)
    }

    /// Moves the states to the keys.
    fn index(&mut self) {
        let states = std::mem::take(&mut self.states).into_iter();
        match self.keys.is_empty() {
            // Sorts them, which is quick if they are in order for the most part, and builds all nodes at once.
            true => self.keys = states.collect(),
            false => self.keys.extend(states),
        }
    }

    /// Removes all keys that start with `prefix`.
    fn take(&mut self, prefix: &str) -> Vec<Loaded> {
        let keys = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let keys = keys.map(|(key, _)| key).take_while(|key| key.starts_with(prefix));
        if 2 * keys.clone().count() < self.keys.len() {
            let keys: Vec<_> = keys.map(Arc::clone).collect();
            return keys.iter().filter_map(|key| self.keys.remove(key)).collect();
        }
        // Most of them: moving the others costs less than removing each of these.
        let all = std::mem::take(&mut self.keys);
        let (mut taken, mut others) = (Vec::with_capacity(all.len()), Vec::new());
        for (key, loaded) in all {
            match key.starts_with(prefix) {
                true => taken.push(loaded),
                false => others.push((key, loaded)),
            }
        }
        self.keys = others.into_iter().collect();
        taken
    }

    /// Records a change of a key without keeping its history.
    pub(crate) fn change(&mut self, record: Record) {
        if record.change == Change::Delete {
            self.keys.remove(&record.key);
        } else {
            let key = Arc::clone(&record.key);
            self.keys.entry(key).or_default().state = Some(record);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
    }

    /// Moves the states under the prefix of `collection` into it, as a backend in which others write has stored them.
    pub(crate) fn claim_stored(&mut self, collection: &Collection) {
        let indexer = collection.indexer();
        let loaded = self.take(collection.prefix()).into_iter();
        let records = loaded.filter_map(|loaded| loaded.state);
        let decode = |record: Record| Arc::new(Entry::decoded(record.key, record.revision, &record.bytes, &*indexer));
        collection.restore(records.map(decode).collect(), Vec::new());
    }

    /// Bytes of the newest states of all keys.
    pub(crate) fn bytes(&self) -> u64 {
        self.newest()
            .map(|record| Record::stored_size(&record.key, record.bytes.len()))
            .sum()
    }

    /// The newest states of all keys.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Record> {
        self.keys.values().filter_map(|loaded| match loaded.changes.last() {
            Some(last) => (last.change != Change::Delete).then_some(last),
            None => loaded.state.as_ref(),
        })
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

    /// Moves everything under the prefix of `collection` into it, decoded by as many threads as there are cores.
    /// Returns the states that expire.
    pub(crate) fn claim(&mut self, collection: &Collection) -> Vec<Expiry> {
        let prefix = collection.prefix();
        let loaded = self.take(prefix);
        let mut all = Claimed::default();
        for claimed in read_all(&*collection.indexer(), loaded) {
            all.states.extend(claimed.states);
            all.events.extend(claimed.events);
            all.expiring.extend(claimed.expiring);
        }
        all.events.sort_unstable_by_key(|event| event.revision());
        collection.restore(all.states, all.events);
        all.expiring
    }
}

/// The entries and events of some keys.
#[derive(Default)]
struct Claimed {
    states: Vec<Arc<Entry>>,
    events: Vec<Arc<Event>>,
    expiring: Vec<Expiry>,
}

impl Claimed {
    fn read(indexer: &dyn Indexer, keys: Vec<Loaded>) -> Self {
        let mut claimed = Self::default();
        for loaded in keys {
            let mut previous = loaded.state.map(|record| entry(indexer, record).0);
            claimed.states.extend(previous.clone());
            for record in loaded.changes {
                let (entry, change) = entry(indexer, record);
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
                claimed.events.push(Arc::new(event));
            }
            claimed.expiring.extend(previous.as_ref().and_then(Expiry::of));
        }
        claimed
    }
}

/// Decodes the objects of `keys`, many of them on several threads: this dominates the time for opening a large store.
fn read_all(indexer: &dyn Indexer, mut keys: Vec<Loaded>) -> Vec<Claimed> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (keys.len() / PER_THREAD).clamp(1, cores);
    let share = keys.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let mut others = Vec::new();
        for _ in 1..threads {
            let share = keys.split_off(keys.len() - share);
            others.push(scope.spawn(move || Claimed::read(indexer, share)));
        }
        let mut all = vec![Claimed::read(indexer, keys)];
        for other in others {
            match other.join() {
                Ok(claimed) => all.push(claimed),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Mutex;
    use std::thread::ThreadId;

    use super::*;
    use crate::log::Log;
    use crate::{ListQuery, MemoryLog, Row, Storage};
    use bytes::Bytes;

    /// Records the threads that decode objects.
    #[derive(Default)]
    struct Threads(Mutex<HashSet<ThreadId>>);

    impl Indexer for Threads {
        fn row(&self, key: &str, _bytes: &[u8]) -> Row {
            self.0.lock().unwrap().insert(std::thread::current().id());
            Row::new([("key", key)], [])
        }
    }

    #[test]
    fn the_objects_of_a_large_collection_are_read_by_all_cores() {
        let log = MemoryLog::new();
        let count = 5 * PER_THREAD + 7;
        for first in (0..count).step_by(1000) {
            let record = |number: usize| Record {
                revision: Revision(number as u64 + 1),
                key: format!("/things/{number:06}").into(),
                change: Change::Put { expires: 0 },
                bytes: Bytes::from_static(b"object"),
                gap: None,
            };
            let records = (first..count.min(first + 1000)).map(record).collect();
            log.append(&Batch { at: 1, records }).unwrap();
        }
        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let threads = Arc::new(Threads::default());
        let things = storage.collection("/things/", Arc::clone(&threads) as Arc<Threads>);
        let entries = things.list(&ListQuery::all("/things/")).unwrap().entries;
        assert_eq!(entries.len(), count);
        assert!(entries.is_sorted_by_key(|entry| Arc::clone(entry.key())));
        assert!(
            entries
                .iter()
                .all(|entry| entry.row().label("key") == Some(&**entry.key()))
        );
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads.0.lock().unwrap().len(), cores.min(5));
    }

    #[test]
    fn a_collection_takes_its_keys_and_leaves_those_of_others() {
        let key = |prefix: &str, number: usize| -> Arc<str> { format!("/{prefix}/{number}").into() };
        let mut unclaimed = Unclaimed::new(&StorageOptions::default());
        for prefix in ["many", "few", "others"] {
            let count = if prefix == "many" { 9 } else { 2 };
            // Not in the order of the keys.
            let states = (0..count).rev().map(|number| Record {
                revision: Revision(1),
                key: key(prefix, number),
                change: Change::Put { expires: 0 },
                bytes: Bytes::from_static(b"object"),
                gap: None,
            });
            unclaimed.states(states.collect());
        }
        unclaimed.finish();
        let mut take = |prefix: &str| -> Vec<Arc<str>> {
            let taken = unclaimed.take(prefix).into_iter();
            taken.filter_map(|loaded| Some(loaded.state?.key)).collect()
        };
        assert_eq!(take("/few/"), [key("few", 0), key("few", 1)]);
        assert_eq!(
            take("/many/"),
            (0..9).map(|number| key("many", number)).collect::<Vec<_>>()
        );
        assert_eq!(take("/many/"), []);
        assert_eq!(take("/others/"), [key("others", 0), key("others", 1)]);
    }
}
