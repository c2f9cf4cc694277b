//! Repeated losses of power and `kill -9`, simulated from traces of system calls.
//!
//! A child process (this test binary again) writes under `strace`. From the trace, [`disk::Disk`] knows at every moment
//! which bytes had reached the disk: those that `fsync` and `fdatasync` covered, and any part of the rest. At many
//! moments the test cuts the power, opens the rest, and checks every write that had been answered by then. So it also
//! proves that syncing comes before answering. The next child continues with the result of one of the cuts: a loss of
//! power, or a `kill -9`, after which a loss of power may still take bytes that no process has synced.

mod chance;
mod disk;
mod trace;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, key, set};
use planesmith_store::{Collection, ListQuery, Revision, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

use self::chance::Chance;
use self::disk::{Disk, Outage};
use self::trace::Call;

/// The environment variable of the child: the folder, and the number of its first write.
const CHILD: &str = "PLANESMITH_POWER_CHILD";
/// Children, one after the other.
const ROUNDS: usize = 3;
const KEYS: usize = 7;
/// Enough to fill several journal files, so that two merges settle them.
const WRITES: usize = 60;
const OBJECT: usize = 5000;
const FILE: u64 = 64 << 10;
/// Number of moments per child at which the power is cut, beside those of a merge.
const CUTS: usize = 12;

/// The answered writes: the newest one of each key, and its revision.
#[derive(Clone, Debug, Default)]
struct Answered {
    writes: BTreeMap<String, usize>,
    revision: u64,
}

#[test]
fn no_answered_write_is_lost_with_the_power() {
    let mut cuts = Cuts::default();
    let mut chance = Chance::new(1);
    let mut folder = temporary();
    let mut disk = Disk::new(folder.path());
    let mut answered = Answered::default();
    for round in 0..ROUNDS {
        let next = run(round, (folder.path(), disk), answered, &mut cuts, &mut chance);
        (folder, disk, answered) = next;
    }
    println!("{cuts:?}");
    assert!(cuts.unfinished > 0, "some cuts come while a generation is made");
    assert!(cuts.both > 0, "some cuts come before the older generation is removed");
    assert!(cuts.settled > 0, "some cuts come after settling");
}

/// Runs a child in `folder` on `disk`, and cuts its power. Returns the result of one of the cuts.
fn run(
    round: usize,
    (folder, mut disk): (&Path, Disk),
    mut answered: Answered,
    cuts: &mut Cuts,
    chance: &mut Chance,
) -> (tempfile::TempDir, Disk, Answered) {
    let calls = trace(folder, round * WRITES);
    let answers = calls.iter().filter(|call| matches!(call, Call::Answer { .. })).count();
    assert_eq!(answers, WRITES, "the trace is complete");
    let every = calls.len() / CUTS;
    // Somewhere in the middle, after a few answers.
    let last = calls.len() / 4 + chance.below(calls.len() / 2);
    let mut next = None;
    for (number, call) in calls.into_iter().enumerate() {
        let is_step = disk.is_step_in(&folder.join("store/state"), &call)
            || (disk.is_step_in(&folder.join("store"), &call) && chance.one_in(6));
        match call {
            Call::Answer { name, number, revision } => {
                answered.writes.insert(name, number);
                answered.revision = revision;
            }
            call => disk.apply(call),
        }
        if is_step || number % every == 0 || number == last {
            let seed = (round * 1_000_000 + number) as u64;
            let random = Outage::Random(seed);
            // All of them at some moments; at each step of a merge one, in turns.
            let others = [Outage::Synced, Outage::Eager, Outage::EagerJournal, Outage::Killed];
            let others = if is_step {
                &others[number % 4..=number % 4]
            } else {
                &others
            };
            for outage in [random].iter().chain(others) {
                let copy = temporary();
                disk.restore(copy.path(), *outage);
                cuts.note(&copy.path().join("store/state"));
                check(
                    copy.path(),
                    &answered,
                    &format!("round {round}, call {number}, {outage:?}"),
                );
            }
            if number == last {
                let copy = temporary();
                let outage = if round.is_multiple_of(2) {
                    Outage::Killed
                } else {
                    random
                };
                disk.restore(copy.path(), outage);
                let next_disk = match outage {
                    Outage::Killed => disk.after_kill(copy.path()),
                    _ => Disk::new(copy.path()),
                };
                next = Some((copy, next_disk, answered.clone()));
            }
        }
    }
    disk.check();
    next.expect("the last cut is in the middle")
}

/// A folder in memory, if there is one: syncs do not matter here.
fn temporary() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

/// Runs a child that writes to `folder`. Returns its calls.
fn trace(folder: &Path, first: usize) -> Vec<Call> {
    let temporary = temporary();
    let log = temporary.path().join("trace");
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-xx", "-s", "16777216", "-e", trace::CALLS, "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["power::child_writes_under_strace", "--exact", "--nocapture"])
        .env(CHILD, format!("{first} {}", folder.display()))
        .stdout(Stdio::null())
        .output();
    let traced = traced.expect("strace is needed for this test; install it");
    let errors = String::from_utf8_lossy(&traced.stderr);
    assert!(
        traced.status.success(),
        "strace has to be allowed to trace, and the child to succeed: {errors}"
    );
    trace::parse(&std::fs::read_to_string(&log).unwrap())
}

fn open(folder: &Path, moment: &str) -> (Storage, Arc<Collection>) {
    let log = SledLog::open(folder).unwrap_or_else(|error| panic!("{moment}: {error}"));
    let log = log.settling_at(0).rolling_at(FILE);
    let storage = Storage::open(log, &StorageOptions::default());
    let storage = storage.unwrap_or_else(|error| panic!("{moment}: {error}"));
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

/// The results of the cuts.
#[derive(Debug, Default)]
struct Cuts {
    all: usize,
    unfinished: usize,
    both: usize,
    settled: usize,
}

impl Cuts {
    fn note(&mut self, folder: &Path) {
        let names: Vec<_> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        let complete = names
            .iter()
            .filter(|name| name.starts_with('0') && !name.contains('.'))
            .count();
        let unfinished = names.iter().filter(|name| name.contains('.')).count();
        self.all += 1;
        self.unfinished += usize::from(unfinished > 0);
        self.both += usize::from(complete > 1);
        self.settled += usize::from(complete > 0);
    }
}

/// Opens the store after a loss of power, and checks the answered writes.
fn check(folder: &Path, answered: &Answered, moment: &str) {
    // The store may be partly created; it still has to open.
    let (storage, things) = open(&folder.join("store"), moment);
    assert!(
        storage.revision() >= Revision(answered.revision),
        "{moment}: a revision can be given away again"
    );
    for (name, number) in &answered.writes {
        let found = things.get(&key(name));
        let found = found
            .as_ref()
            .and_then(|entry| entry.row().label("word"))
            .and_then(|word| word.split_once('.'));
        let found: Option<usize> = found.and_then(|(number, _)| number.parse().ok());
        assert!(
            found >= Some(*number),
            "{moment}: {name} is {found:?}, {number} was answered"
        );
    }
    assert!(things.list(&ListQuery::all(THINGS)).unwrap().entries.len() <= KEYS);
}

/// Not a test of its own: the child that [`no_answered_write_is_lost_with_the_power`] runs and traces.
#[test]
fn child_writes_under_strace() {
    let Ok(arguments) = std::env::var(CHILD) else {
        return;
    };
    let (first, folder) = arguments.split_once(' ').unwrap();
    let (first, folder): (usize, PathBuf) = (first.parse().unwrap(), folder.into());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (storage, things) = open(&folder.join("store"), "in the child");
        let mut compacting = None;
        for number in 0..WRITES {
            let name = format!("n{}", number % KEYS);
            let word = format!("{}.{}", first + number, "x".repeat(OBJECT));
            let written = set(&things, &name, &word).await;
            trace::answer(&name, first + number, written.revision().0);
            if number % 30 == 20 {
                // In the background, while writes go on.
                storage.compact(written.revision());
                let storage = storage.clone();
                compacting = Some(tokio::spawn(async move { storage.compacted(written.revision()).await }));
            } else if number % 30 == 28 {
                compacting.take().unwrap().await.unwrap();
            }
        }
        storage.close().await;
    });
}
