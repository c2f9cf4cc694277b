//! Folders of older versions, and rounds of settling that are interrupted.

use std::collections::{BTreeMap, HashMap};

use planesmith_store::log::Change;
use planesmith_store::{NoIndex, Storage, StorageOptions};

use super::*;
use crate::generation::tests::write_first_format;

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

/// The revision of each key, and true if it has an object at that revision.
#[derive(Default)]
struct Newest(HashMap<String, (u64, bool)>);

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
fn load_newest(folder: &Path) -> (SledLog, Opened, HashMap<String, (u64, bool)>) {
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
    assert!(
        refusal.contains("it says that it is the state at revision 100"),
        "{refusal}"
    );
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
    let home = lock(&log.settling).as_ref().unwrap().state.homes().next().cloned();
    while log.compact(Revision(300)).unwrap() {}
    let reads = home.unwrap().reads.load(Ordering::Relaxed);
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

#[test]
fn a_round_that_ends_half_way_leaves_every_key_as_it_was() {
    const PUT: Change = Change::Put { expires: 0 };
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let log = SledLog::open(&folder).unwrap().settling_at(0).rolling_at(1 << 20);
    log.load(&mut Seen::default()).unwrap();
    let mut expected = HashMap::new();
    let mut halves = 0;
    // The first round splits slots, the second changes some keys of each, and deletes some.
    for revisions in [1..=120, 121..=240] {
        let last = *revisions.end();
        for revision in revisions {
            let key = if revision > 120 { revision % 50 } else { revision % 100 };
            let change = if revision > 200 && key < 5 { Change::Delete } else { PUT };
            expected.insert(format!("/things/{key}"), (revision, change == PUT));
            let records = vec![record(revision, key, change)];
            log.append(&Batch { at: 1, records }).unwrap();
        }
        let list = || std::fs::read(folder.join("state/list")).unwrap_or_default();
        let mut known = list();
        while log.compact(Revision(last)).unwrap() {
            if list() == known {
                continue;
            }
            known = list();
            // No work is running at this moment, so this is the state after a crash.
            let crashed = temporary.path().join("crashed");
            copy(&folder, &crashed);
            let (crashed_log, opened, newest) = load_newest(&crashed);
            assert_eq!(opened.last, Revision(last));
            let live = |all: &HashMap<String, (u64, bool)>| {
                let live = all.iter().filter(|(_, (_, is_live))| *is_live);
                live.map(|(key, (revision, _))| (key.clone(), *revision))
                    .collect::<BTreeMap<_, _>>()
            };
            assert_eq!(live(&newest), live(&expected));
            drop(crashed_log);
            let storage = Storage::open(SledLog::open(&crashed).unwrap(), &StorageOptions::default()).unwrap();
            let things = storage.collection("/things/", Arc::new(NoIndex));
            for (key, (revision, is_live)) in &expected {
                let found = things.get(key).map(|entry| entry.revision().0);
                assert_eq!(found, is_live.then_some(*revision), "{key}");
            }
            drop((storage, things));
            std::fs::remove_dir_all(crashed).unwrap();
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

#[test]
fn merges_wait_for_what_is_worth_them_unless_space_is_short() {
    const MB: u64 = 1 << 20;
    for (state, room, expected) in [
        (0, 1000 * MB, 64 * MB),
        (10 * MB, 1000 * MB, 64 * MB),
        (100 * MB, 1000 * MB, 100 * MB),
        (100 * MB, 200 * MB, 50 * MB),
        (0, 40 * MB, 10 * MB),
        (100 * MB, 0, 0),
    ] {
        assert_eq!(patience(state, WORTHWHILE, room), expected, "{state} of {room}");
    }
}
