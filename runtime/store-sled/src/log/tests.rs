//! Folders of older versions, and rounds of settling that are interrupted.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use planesmith_store::log::Change;
use planesmith_store::{NoIndex, Storage, StorageOptions};

use super::*;
use crate::generation::tests::write_first_format;
use crate::state::KeyHash;

/// Records the loaded content.
#[derive(Default)]
struct Seen {
    states: Vec<u64>,
    changes: Vec<u64>,
}

impl Loader for Seen {
    fn state(&mut self, record: Record) {
        self.states.push(record.revision.0);
    }

    fn batch(&mut self, batch: Batch) {
        self.changes
            .extend(batch.records.iter().map(|record| record.revision.0));
    }
}

fn record(revision: u64, key: u64, change: Change) -> Record {
    Record {
        revision: Revision(revision),
        key: format!("/things/{key}").into(),
        change,
        bytes: Bytes::from(vec![b'x'; 100_000]),
        gap: None,
    }
}

/// The last write of each key, and true if it has an object then.
type Writes = HashMap<String, (u64, bool)>;

/// Records the last write of each key.
#[derive(Default)]
struct Newest(Writes);

impl Loader for Newest {
    fn state(&mut self, record: Record) {
        let known = self.0.insert(record.key.to_string(), (record.revision.0, true));
        assert_eq!(known, None, "one state for each key, before all changes");
    }

    fn batch(&mut self, batch: Batch) {
        for record in batch.records {
            let newest = (record.revision.0, record.change != Change::Delete);
            let before = self.0.insert(record.key.to_string(), newest);
            assert!(before.is_none_or(|(revision, _)| revision < newest.0));
        }
    }
}

/// The content of `folder`, except for keys whose deletion is settled.
fn load_newest(folder: &Path) -> (SledLog, Opened, Writes) {
    let log = SledLog::open(folder).unwrap();
    let mut newest = Newest::default();
    let opened = log.load(&mut newest).unwrap();
    (log, opened, newest.0)
}

fn load(folder: &Path) -> (SledLog, Opened, Seen) {
    let log = SledLog::open(folder).unwrap().settling_at(0);
    let mut seen = Seen::default();
    let opened = log.load(&mut seen).unwrap();
    seen.states.sort_unstable();
    (log, opened, seen)
}

#[test]
fn a_folder_of_an_older_format_opens_and_the_first_merge_makes_it_the_newest() {
    // The journal of version 1 is upgraded at once.
    for (format, opened) in [("1", "3"), ("2", "2")] {
        upgrade(format, opened);
    }
}

fn upgrade(format: &str, opened_format: &str) {
    const PUT: Change = Change::Put { expires: 0 };
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let format_of = |folder: &Path| std::fs::read_to_string(folder.join("format")).unwrap();
    // 100 keys, 10 MB: several slots.
    let states: Vec<_> = (1..=100).map(|number| record(number, number, PUT)).collect();
    load(&folder).0.close().unwrap();
    std::fs::write(folder.join("format"), format!("planesmith-store {format}\n")).unwrap();
    let state = folder.join("state");
    write_first_format(&state, &states, Revision(100));
    let (here, elsewhere) = (state.join(format!("{:020}", 100)), state.join(format!("{:020}", 99)));
    std::fs::rename(&here, &elsewhere).unwrap();
    let refusal = SledLog::open(&folder).unwrap_err().to_string();
    assert!(refusal.contains("its manifest names revision 100"), "{refusal}");
    std::fs::rename(&elsewhere, &here).unwrap();

    let (log, opened, seen) = load(&folder);
    assert_eq!((opened.floor, opened.last), (Revision(100), Revision(100)));
    assert_eq!(seen.states, (1..=100).collect::<Vec<_>>());
    // One key is deleted, and some change.
    for revision in 101..=300 {
        let change = if revision == 101 { Change::Delete } else { PUT };
        let records = vec![record(revision, revision % 50 + 1, change)];
        log.append(&Batch { at: 1, records }).unwrap();
    }
    assert_eq!(format_of(&folder), format!("planesmith-store {opened_format}\n"));
    let generation_set = lock(&log.settling)
        .as_ref()
        .unwrap()
        .state
        .generation_sets()
        .next()
        .cloned();
    while log.compact(Revision(300)).unwrap() {}
    let reads = generation_set.unwrap().generations()[0].reads.load(Ordering::Relaxed);
    assert_eq!(reads, 2, "it is read by the start, and once for all slots");
    let settled = lock(&log.settling).as_ref().map(|settling| settling.state.settled());
    let settled = settled.unwrap().0;
    assert!(settled > 250);
    assert!(lock(&log.settling).as_ref().unwrap().state.parts().len() > 2);
    log.close().unwrap();
    drop(log);

    assert_eq!(format_of(&folder), "planesmith-store 3\n");
    assert!(!folder.join(format!("state/{:020}", 100)).exists());
    let (_log, opened, seen) = load(&folder);
    assert_eq!((opened.floor, opened.last), (Revision(settled), Revision(300)));
    assert_eq!(
        seen.states,
        (51..=100).chain(settled - 49..=settled).collect::<Vec<_>>()
    );
    assert_eq!(seen.changes, (settled + 1..=300).collect::<Vec<_>>());
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Checks that a copy of `folder`, as a crash at this moment would leave it, has exactly the objects of `expected`.
fn check_crash(folder: &Path, expected: &Writes) {
    let temporary = tempfile::tempdir().unwrap();
    let crashed = temporary.path().join("crashed");
    copy(folder, &crashed);
    let (log, opened, newest) = load_newest(&crashed);
    let last = expected.values().map(|(revision, _)| *revision).max();
    assert_eq!(Some(opened.last.0), last);
    let live = |all: &Writes| {
        let live = all.iter().filter(|(_, (_, is_live))| *is_live);
        live.map(|(key, (revision, _))| (key.clone(), *revision))
            .collect::<BTreeMap<_, _>>()
    };
    assert_eq!(live(&newest), live(expected));
    drop(log);
    let storage = Storage::open(SledLog::open(&crashed).unwrap(), &StorageOptions::default()).unwrap();
    let things = storage.collection("/things/", Arc::new(NoIndex));
    for (key, (revision, is_live)) in expected {
        let found = things.get(key).map(|entry| entry.revision().0);
        assert_eq!(found, is_live.then_some(*revision), "{key}");
    }
}

/// Writes an object of 100 KB for each of `revisions` to a key of `key`, or deletes it.
fn write(log: &SledLog, revisions: impl Iterator<Item = u64>, key: impl Fn(u64) -> (u64, bool), writes: &mut Writes) {
    for revision in revisions {
        let (key, is_put) = key(revision);
        let change = if is_put {
            Change::Put { expires: 0 }
        } else {
            Change::Delete
        };
        writes.insert(format!("/things/{key}"), (revision, is_put));
        let records = vec![record(revision, key, change)];
        log.append(&Batch { at: 1, records }).unwrap();
    }
}

#[test]
fn a_round_that_ends_half_way_leaves_every_key_as_it_was() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let log = SledLog::open(&folder).unwrap().settling_at(0).rolling_at(1 << 20);
    log.load(&mut Seen::default()).unwrap();
    let mut expected = Writes::new();
    let mut halves = 0;
    // The first round splits slots, the second changes some keys of each, and deletes some.
    for revisions in [1..=120, 121..=240] {
        let last = *revisions.end();
        let key = |revision| {
            let key = if revision > 120 { revision % 50 } else { revision % 100 };
            (key, revision <= 200 || key >= 5)
        };
        write(&log, revisions, key, &mut expected);
        let list = || std::fs::read(folder.join("state/list")).unwrap_or_default();
        let mut known = list();
        while log.compact(Revision(last)).unwrap() {
            if list() == known {
                continue;
            }
            known = list();
            // No work is running at this moment, so this is the state after a crash.
            check_crash(&folder, &expected);
            let state = &lock(&log.settling);
            let state = &state.as_ref().unwrap().state;
            halves += u32::from(state.newest() > state.settled());
        }
    }
    let settled = lock(&log.settling).as_ref().map(|settling| settling.state.settled().0);
    assert!(
        settled > Some(120) && halves > 4,
        "{halves} rounds ended half way, {settled:?} is settled"
    );
}

/// A disk with so many free bytes.
#[derive(Debug)]
struct Free(AtomicU64);

impl Meter for Free {
    fn measure(&self, _folder: &Path) -> std::io::Result<crate::DiskSize> {
        let total = 1 << 30;
        let free = self.0.load(Ordering::Relaxed);
        Ok(crate::DiskSize { total, free })
    }
}

/// Checks `state` of an open store.
fn with_state<T>(log: &SledLog, read: impl FnOnce(&mut State) -> T) -> T {
    read(&mut lock(&log.settling).as_mut().unwrap().state)
}

#[test]
fn slots_of_checksums_are_replaced_by_slots_of_a_keyed_hash() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let list = || std::fs::read_to_string(folder.join("state/list")).unwrap();
    let small = |log: SledLog| log.settling_at(0).rolling_at(1 << 20);
    let mut expected = Writes::new();
    let disk = Arc::new(Free(AtomicU64::new(500 << 20)));
    let measured = || small(SledLog::open_measured(&folder, Arc::clone(&disk) as Arc<Free>).unwrap());
    let log = measured();
    with_state(&log, State::use_checksums);
    log.load(&mut Seen::default()).unwrap();
    write(&log, 1..=120, |revision| (revision % 100, true), &mut expected);
    while log.compact(Revision(120)).unwrap() {}
    log.close().unwrap();
    drop(log);
    let before = list();
    assert!(before.starts_with("planesmith-state 2\n") && before.contains("\nkey -\n"));

    // The disk fills up when a round has begun, and both states do not fit it.
    let log = measured();
    log.load(&mut Seen::default()).unwrap();
    // A few keys change, of few slots: a round waits for journal files of the state's size.
    write(
        &log,
        121..=260,
        |revision| (revision % 3, revision > 121),
        &mut expected,
    );
    assert_eq!(list(), before, "nothing is written before a round");
    assert!(log.compact(Revision(260)).unwrap());
    assert_ne!(with_state(&log, |state| state.hash()), KeyHash::Checksum);
    disk.0.store(1 << 20, Ordering::Relaxed);
    while log.compact(Revision(260)).is_ok_and(|more| more) {}
    assert_eq!(with_state(&log, |state| state.hash()), KeyHash::Checksum);
    assert_eq!(list(), before);
    log.close().unwrap();
    drop(log);

    let log = small(SledLog::open(&folder).unwrap());
    log.load(&mut Seen::default()).unwrap();
    check_crash(&folder, &expected);
    assert_eq!(
        with_state(&log, |state| state.hash()),
        KeyHash::Checksum,
        "no round yet"
    );
    assert!(log.compact(Revision(260)).unwrap());
    assert_ne!(with_state(&log, |state| state.hash()), KeyHash::Checksum);
    let old = with_state(&log, |state| state.generation_sets().next().cloned()).unwrap();
    let (mut known, mut halves) = (before, 0);
    while log.compact(Revision(260)).unwrap() {
        if list() == known {
            continue;
        }
        known = list();
        if known.starts_with("planesmith-state 3\n") {
            halves += 1;
            if halves % 3 == 1 {
                check_crash(&folder, &expected);
            }
        }
    }
    assert!(halves > 2, "{halves} states in between");
    let reads = old.generations().iter().map(|old| old.reads.load(Ordering::Relaxed));
    assert_eq!(
        reads.collect::<Vec<_>>(),
        vec![2; old.generations().len()],
        "each is read by the start, and once for all slots"
    );
    assert!(old.is_unsorted() && list().starts_with("planesmith-state 2\n"));
    let sizes = with_state(&log, |state| {
        state.parts().iter().map(|part| part.bytes).collect::<Vec<_>>()
    });
    assert!(
        sizes.len() > 2 && sizes.iter().all(|bytes| *bytes <= 4 << 20),
        "{sizes:?}"
    );
    assert_eq!(with_state(&log, |state| state.unsorted_size()), 0);
    let folders = std::fs::read_dir(folder.join("state")).unwrap().count();
    assert_eq!(
        folders,
        with_state(&log, |state| state.generation_sets().count()) + 1,
        "and the list"
    );
    check_crash(&folder, &expected);
}

#[test]
fn merges_wait_for_what_is_worth_them_unless_space_is_short() {
    const MB: u64 = 1 << 20;
    for (state, limit, expected) in [
        (0, 1000 * MB, 64 * MB),
        (10 * MB, 1000 * MB, 64 * MB),
        (100 * MB, 1000 * MB, 100 * MB),
        (100 * MB, 200 * MB, 50 * MB),
        (0, 40 * MB, 10 * MB),
        (100 * MB, 0, 0),
    ] {
        assert_eq!(
            settling_threshold(state, MIN_MERGE, limit),
            expected,
            "{state} of {limit}"
        );
    }
}

/// Records the keys that are passed on together, and the bytes in all and as they were announced.
#[derive(Default)]
struct Together {
    keys: Vec<Vec<String>>,
    bytes: u64,
    announced: u64,
}

impl Loader for Together {
    fn expect(&mut self, bytes: u64) {
        assert_eq!(self.bytes, 0, "before everything else");
        self.announced = bytes;
    }

    fn state(&mut self, _: Record) {
        panic!("states come together");
    }

    fn states(&mut self, records: Vec<Record>) {
        self.bytes += records.iter().map(Record::size).sum::<u64>();
        self.keys
            .push(records.iter().map(|record| record.key.to_string()).collect());
    }

    fn batch(&mut self, batch: Batch) {
        self.bytes += batch.records.iter().map(Record::size).sum::<u64>();
    }
}

#[test]
fn a_start_reads_each_generation_once_and_sorts_its_records_in_the_threads_that_read() {
    let folder = tempfile::tempdir().unwrap();
    let open = || SledLog::open(folder.path()).unwrap().settling_at(0).rolling_at(1 << 20);
    let log = open();
    log.load(&mut Seen::default()).unwrap();
    write(&log, 1..101, |revision| (revision, true), &mut Writes::new());
    while log.compact(Revision(100)).unwrap() {}
    log.close().unwrap();
    let (log, mut together) = (open(), Together::default());
    log.load(&mut together).unwrap();
    let reads = with_state(&log, |state| {
        let generations = state.generation_sets().flat_map(|set| set.generations().to_vec());
        generations
            .map(|generation| generation.reads.load(Ordering::Relaxed))
            .collect::<Vec<_>>()
    });
    assert!(reads.len() > 1, "there are several slots");
    assert!(reads.iter().all(|reads| *reads == 1), "{reads:?}");
    assert_eq!(together.keys.len(), reads.len());
    assert!(together.keys.iter().all(|keys| keys.is_sorted()));
    let mut keys = together.keys.concat();
    keys.sort_unstable();
    keys.dedup();
    assert!((80..=100).contains(&keys.len()), "all but those of the newest file");
    // The newest file is longer than its frames.
    let announced = together.bytes..=together.bytes + (2 << 20);
    assert!(
        announced.contains(&together.announced),
        "{} of {announced:?}",
        together.announced
    );
    log.close().unwrap();
}
