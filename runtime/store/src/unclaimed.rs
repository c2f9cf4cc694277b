//! Loaded records that do not belong to a collection yet.

mod sorted_states;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use self::sorted_states::SortedStates;
use crate::committer::Expiry;
use crate::compactor::{Ages, Limits, Mark, MarkQueue};
use crate::compression::{Compressor, ThreadCompressor};
use crate::draft::Encoded;
use crate::history::SpilledEvent;
use crate::key::KeyedRow;
use crate::log::{Batch, Change, Loader, Record};
use crate::progress::Reporter;
use crate::values::Values;
use crate::{Collection, Entry, Event, EventKind, Indexer, Revision, RowRef, StorageOptions, StoredForm};

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
    /// Keys with changes.
    keys: BTreeMap<Arc<str>, Loaded>,
    /// The states of other keys.
    states: SortedStates,
    marks: MarkQueue,
    limits: Limits,
    /// The times up to which writes are too old.
    ages: Ages,
    /// Changes up to this revision are forgotten: only their resulting states count.
    floor: Revision,
    /// The keys of the changes that are in memory, in the order of the changes.
    order: VecDeque<(Revision, Arc<str>)>,
    reporter: Reporter,
}

#[derive(Debug, Default)]
struct Loaded {
    /// The state before the changes.
    state: Option<Record>,
    changes: VecDeque<Record>,
    /// Earlier changes, which led to the state; some of them may be forgotten.
    #[expect(clippy::box_collection, reason = "most of a million keys have none")]
    spilled: Option<Box<Vec<SpilledEvent>>>,
}

impl Loaded {
    /// Makes the first change a part of the state, and leaves the state before it to the backend if it `spills`.
    fn fold(&mut self, spills: bool) {
        let Some(change) = self.changes.pop_front() else {
            return;
        };
        let is_deletion = change.change == Change::Delete;
        if spills {
            let spilled = self.spilled.get_or_insert_default();
            let keyed_row = match spilled.first() {
                Some(earlier) => earlier.keyed_row.clone(),
                None => KeyedRow::new(&change.key, RowRef::default()),
            };
            spilled.push(SpilledEvent {
                keyed_row,
                revision: change.revision,
                previous: self.state.as_ref().map_or(Revision::ZERO, |state| state.revision),
                length: u32::try_from(change.bytes.len()).unwrap_or(u32::MAX),
                is_deletion,
            });
        }
        self.state = (!is_deletion).then_some(change);
    }

    fn is_empty(&self) -> bool {
        self.state.is_none() && self.changes.is_empty() && self.spilled.is_none()
    }
}

impl Loader for Unclaimed {
    fn expect(&mut self, bytes: u64) {
        self.reporter.expect(bytes);
    }

    fn state(&mut self, record: Record) {
        self.reporter
            .note(1, Record::stored_size(&record.key, record.bytes.len()));
        self.states.push(record);
    }

    fn states(&mut self, records: Vec<Record>) {
        let sizes = records
            .iter()
            .map(|record| Record::stored_size(&record.key, record.bytes.len()));
        self.reporter.note(records.len() as u64, sizes.sum());
        self.states.push_all(records);
    }

    fn batch(&mut self, batch: Batch) {
        self.states.merge();
        let mark = Mark::from_batch(&batch, 0);
        let count = batch.records.len() as u64;
        let mut superseded = 0;
        for record in batch.records {
            self.order.push_back((record.revision, Arc::clone(&record.key)));
            let loaded = self.loaded(&record.key);
            if let Some(last) = loaded.changes.back().or(loaded.state.as_ref()) {
                superseded += last.bytes.len() + OVERHEAD;
            }
            if record.change == Change::Delete {
                superseded += record.bytes.len() + OVERHEAD;
            }
            if loaded.changes.is_empty() {
                // Most keys of a large store have one change; a queue has space for four by itself.
                loaded.changes.reserve_exact(1);
            }
            loaded.changes.push_back(record);
        }
        let Some(mark) = mark else { return };
        self.reporter.note(count, mark.disk);
        self.marks.push(Mark {
            memory: superseded,
            ..mark
        });
        let spilled = self.marks.spill(self.limits);
        self.floor = self.marks.forget(self.ages, None, self.floor, self.limits);
        self.fold(spilled);
    }
}

impl Unclaimed {
    /// Returns the records of a backend that keeps history, if it `spills`.
    pub(crate) fn new(options: &StorageOptions, spills: bool) -> Self {
        let window = u64::try_from(options.longest_window().as_millis()).unwrap_or(u64::MAX);
        Self {
            keys: BTreeMap::new(),
            states: SortedStates::default(),
            marks: MarkQueue::default(),
            limits: Limits {
                memory: options.history_bytes,
                disk: options.journal_bytes,
                spills,
            },
            ages: Ages::new(options.clock.unix_millis(), window),
            floor: Revision::ZERO,
            order: VecDeque::new(),
            reporter: Reporter::new(options.on_progress.clone()),
        }
    }

    /// Ends loading. Returns the times of the loaded changes, and the floor.
    pub(crate) fn finish(&mut self) -> (MarkQueue, Revision) {
        self.states.merge();
        self.order = VecDeque::new();
        (std::mem::take(&mut self.marks), self.floor)
    }

    /// The records of `key`.
    fn loaded(&mut self, key: &Arc<str>) -> &mut Loaded {
        let states = &mut self.states;
        self.keys.entry(Arc::clone(key)).or_insert_with(|| Loaded {
            state: states.take(key),
            ..Loaded::default()
        })
    }

    /// Removes all keys that start with `prefix`: the states of those without changes, and the others.
    fn take(&mut self, prefix: &str) -> (Vec<Record>, Vec<Loaded>) {
        let states = self.states.take_all(prefix);
        let keys = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let keys = keys.map(|(key, _)| key).take_while(|key| key.starts_with(prefix));
        let count = keys.clone().count();
        if 2 * count < self.keys.len() {
            let keys: Vec<_> = keys.map(Arc::clone).collect();
            return (states, keys.iter().filter_map(|key| self.keys.remove(key)).collect());
        }
        // Most of them: moving the others costs less than removing each of these.
        let mut taken = self.keys.split_off(prefix);
        if let Some((key, _)) = taken.iter().nth(count) {
            let key = Arc::clone(key);
            self.keys.append(&mut taken.split_off(&key));
        }
        (states, taken.into_values().collect())
    }

    /// Records a change of a key without keeping its history.
    pub(crate) fn change(&mut self, record: Record) {
        if record.change == Change::Delete {
            self.states.take(&record.key);
            self.keys.remove(&record.key);
        } else {
            let key = Arc::clone(&record.key);
            self.loaded(&key).state = Some(record);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.states.clear();
    }

    /// Copies the states of the keys that start with `prefix`. Copies share the bytes.
    pub(crate) fn states_under(&self, prefix: &str) -> Vec<Record> {
        let changed = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let changed = changed.take_while(|(key, _)| key.starts_with(prefix));
        let changed = changed.filter_map(|(_, loaded)| loaded.state.as_ref());
        self.states.under(prefix).chain(changed).cloned().collect()
    }

    /// Moves the states under the prefix of `collection` into it, as a backend in which others write has stored them. States that
    /// have changed since they were `decoded` are decoded again.
    pub(crate) fn claim_stored(&mut self, collection: &Collection, decoded: &[Arc<Entry>]) {
        let indexer = collection.indexer();
        let read = (&*indexer, collection.values());
        let decoded: HashMap<&str, &Arc<Entry>> = decoded.iter().map(|entry| (entry.key(), entry)).collect();
        let (states, changed) = self.take(collection.prefix());
        let changed = changed.into_iter().filter_map(|loaded| loaded.state);
        let records = states.into_iter().chain(changed);
        let mut compressor = collection.compressor().of_thread();
        let entry = |record: Record| {
            let known = decoded
                .get(&*record.key)
                .filter(|entry| entry.revision() == record.revision);
            known.map(|entry| Arc::clone(entry)).unwrap_or_else(|| {
                let entry = Entry::decoded(&record.key, record.revision, &record.bytes, read);
                Arc::new(entry.compressed_in(&mut compressor))
            })
        };
        let states: Vec<_> = records.map(entry).collect();
        let newest = states.iter().map(|entry| entry.revision()).max();
        collection.restore(states, newest.unwrap_or_default(), Vec::new(), Vec::new());
    }

    /// Bytes of the newest states of all keys.
    pub(crate) fn bytes(&self) -> u64 {
        self.newest()
            .map(|record| Record::stored_size(&record.key, record.bytes.len()))
            .sum()
    }

    /// The newest states of all keys.
    pub(crate) fn newest(&self) -> impl Iterator<Item = &Record> {
        let changed = self.keys.values().filter_map(|loaded| match loaded.changes.back() {
            Some(last) => (last.change != Change::Delete).then_some(last),
            None => loaded.state.as_ref(),
        });
        self.states.iter().chain(changed)
    }

    /// The stored values of the keys that start with `prefix`, those of changes included.
    pub(crate) fn values_under(&self, prefix: &str) -> impl Iterator<Item = &[u8]> {
        let changed = self.keys.range::<str, _>((Bound::Included(prefix), Bound::Unbounded));
        let changed = changed.take_while(move |(key, _)| key.starts_with(prefix));
        let changed = changed.flat_map(|(_, loaded)| loaded.state.iter().chain(&loaded.changes));
        self.states.under(prefix).chain(changed).map(|record| &*record.bytes)
    }

    /// Drops from memory what changes up to the floor superseded, or those up to `spilled`.
    fn fold(&mut self, spilled: Revision) {
        let through = self.floor.max(spilled);
        while self.order.front().is_some_and(|(revision, _)| *revision <= through)
            && let Some((revision, key)) = self.order.pop_front()
        {
            if let Some(loaded) = self.keys.get_mut(&key) {
                loaded.fold(revision > self.floor);
                if loaded.is_empty() {
                    self.keys.remove(&key);
                }
            }
        }
    }

    /// Moves everything under the prefix of `collection` into it, decoded by as many threads as there are cores.
    /// A program like this one has written the states after `known_after`.
    pub(crate) fn claim(&mut self, collection: &Collection, known_after: Option<Revision>) -> Summary {
        let prefix = collection.prefix();
        let (states, changed) = self.take(prefix);
        let mut all = Claimed::default();
        let floor = self.floor;
        let reading = Reading {
            indexer: &*collection.indexer(),
            values: collection.values(),
            compressor: collection.compressor(),
            known_after,
        };
        for claimed in reading.read_all(states, changed) {
            all.states.extend(claimed.states);
            all.before = all.before.max(claimed.before);
            all.has_stale |= claimed.has_stale;
            all.spilled
                .extend(claimed.spilled.into_iter().filter(|event| event.revision > floor));
            all.events.extend(claimed.events);
            all.expiring.extend(claimed.expiring);
        }
        all.spilled.sort_unstable_by_key(|event| event.revision);
        // Those of each thread are in order: a stable sort merges them.
        all.events.sort_by_key(|(revision, _)| *revision);
        let summary = Summary {
            expiring: all.expiring,
            states: all.states.len(),
            is_current: !all.has_stale,
        };
        let events = all.events.into_iter().map(|(_, event)| event).collect();
        collection.restore(all.states, all.before, all.spilled, events);
        summary
    }
}

/// The states that a collection has claimed.
#[derive(Debug)]
pub(crate) struct Summary {
    /// Those that expire.
    pub(crate) expiring: Vec<Expiry>,
    /// Their number.
    pub(crate) states: usize,
    /// True if all have the bytes that this program would write.
    pub(crate) is_current: bool,
}

/// The entries and events of some keys.
#[derive(Default)]
struct Claimed {
    /// The newest state of each key.
    states: Vec<Arc<Entry>>,
    /// The newest revision of the states before all events.
    before: Revision,
    spilled: Vec<SpilledEvent>,
    /// In the order of their revisions, which are beside them: sorting millions would otherwise read as many entries, again and again.
    events: Vec<(Revision, Arc<Event>)>,
    expiring: Vec<Expiry>,
    /// True if an entry does not have the bytes that this program would write.
    has_stale: bool,
}

impl Claimed {
    /// Takes note of the state of a key before its events.
    fn note_before(&mut self, entry: &Entry) {
        self.before = self.before.max(entry.revision());
        self.note_form(entry);
    }

    fn note_form(&mut self, entry: &Entry) {
        self.has_stale |= entry.stored_form() != StoredForm::Current;
    }
}

/// Makes entries of records.
#[derive(Clone, Copy)]
struct Reading<'a> {
    indexer: &'a dyn Indexer,
    values: &'a Values,
    compressor: &'a Compressor,
    /// A program like this one has written the states after this revision; `None` if none is known to.
    known_after: Option<Revision>,
}

impl Reading<'_> {
    fn read(self, states: Vec<Record>, changed: Vec<Loaded>) -> Claimed {
        let mut compressor = self.compressor.of_thread();
        let mut claimed = Claimed {
            states: Vec::with_capacity(states.len() + changed.len()),
            ..Claimed::default()
        };
        for record in states {
            let (entry, _) = self.entry(record, None, &mut compressor);
            claimed.note_before(&entry);
            claimed.expiring.extend(Expiry::of(&entry));
            claimed.states.push(entry);
        }
        for loaded in changed {
            let mut previous = loaded.state.map(|record| self.entry(record, None, &mut compressor).0);
            previous.iter().for_each(|entry| claimed.note_before(entry));
            let spilled = loaded.spilled.into_iter().flat_map(|spilled| *spilled);
            claimed.spilled.extend(spilled.map(|event| match &previous {
                Some(state) => event.sharing(state),
                None => event,
            }));
            for record in loaded.changes {
                let (entry, change) = self.entry(record, previous.as_deref(), &mut compressor);
                claimed.note_form(&entry);
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
                claimed.events.push((event.revision(), Arc::new(event)));
            }
            claimed.expiring.extend(previous.as_ref().and_then(Expiry::of));
            claimed.states.extend(previous);
        }
        claimed.events.sort_unstable_by_key(|(revision, _)| *revision);
        claimed
    }

    /// Reads objects, many of them on several threads: decoding dominates the time for opening a large store. The results are in
    /// the order of the keys.
    fn read_all(self, mut states: Vec<Record>, mut changed: Vec<Loaded>) -> Vec<Claimed> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = ((states.len() + changed.len()) / PER_THREAD).clamp(1, cores);
        let (share, share_of_changed) = (states.len().div_ceil(threads), changed.len().div_ceil(threads));
        std::thread::scope(|scope| {
            let mut others = Vec::new();
            for thread in (1..threads).rev() {
                let states = states.split_off(states.len().min(thread * share));
                let changed = changed.split_off(changed.len().min(thread * share_of_changed));
                others.push(scope.spawn(move || self.read(states, changed)));
            }
            let mut all = vec![self.read(states, changed)];
            for other in others.into_iter().rev() {
                match other.join() {
                    Ok(claimed) => all.push(claimed),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        })
    }

    /// The entry of a record, whose key has the state `previous` before.
    fn entry(
        self,
        record: Record,
        previous: Option<&Entry>,
        compressor: &mut ThreadCompressor<'_>,
    ) -> (Arc<Entry>, Change) {
        let expires = match record.change {
            Change::Put { expires } => expires,
            Change::Delete => 0,
        };
        let is_known = self.known_after.is_some_and(|after| record.revision > after);
        let stored = Encoded {
            bytes: record.bytes.into(),
            gap: record.gap,
        };
        let entry = Entry::loaded(
            &record.key,
            record.revision,
            stored,
            expires,
            (self.indexer, self.values),
            is_known,
        );
        let entry = entry.sharing(previous).compressed_in(compressor);
        (Arc::new(entry), record.change)
    }
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
        assert!(entries.is_sorted_by(|one, next| one.key() <= next.key()));
        assert!(
            entries
                .iter()
                .all(|entry| entry.row().label("key") == Some(entry.key()))
        );
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads.0.lock().unwrap().len(), cores.min(5));
    }

    #[test]
    fn a_collection_takes_its_keys_and_leaves_those_of_others() {
        let key = |prefix: &str, number: usize| -> Arc<str> { format!("/{prefix}/{number}").into() };
        let mut unclaimed = Unclaimed::new(&StorageOptions::default(), false);
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
            let (states, changed) = unclaimed.take(prefix);
            assert!(changed.is_empty());
            states.into_iter().map(|record| record.key).collect()
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
