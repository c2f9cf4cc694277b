//! A loss of power and `kill -9`, simulated from a trace of system calls.
//!
//! A child process (this test binary again) writes under `strace`. From the trace, [`disk::Disk`]
//! knows at every moment what had reached the platter: what `fsync` and `fdatasync` covered, and
//! nothing else. At many moments the test cuts the power, opens what is left, and looks for every
//! write that had been answered by then. So it also proves that syncing comes before answering.

mod disk;
mod trace;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use planesmith_store::conformance::{THINGS, key, set};
use planesmith_store::{ListQuery, StorageOptions};

use self::disk::{Disk, Names};
use self::trace::Call;
use crate::open;

/// In the environment of the child: the folder.
const CHILD: &str = "PLANESMITH_POWER_CHILD";
const KEYS: usize = 7;
/// Enough to fill two journal files, so that each is settled by itself.
const WRITES: usize = 220;
const OBJECT: usize = 90_000;
/// Moments at which the power is cut.
const CUTS: usize = 20;

#[test]
fn no_answered_write_is_lost_with_the_power() {
    let temporary = tempfile::tempdir().unwrap();
    let (folder, log) = (temporary.path().join("traced"), temporary.path().join("trace"));
    std::fs::create_dir(&folder).unwrap();
    let traced = Command::new("strace")
        .args(["-f", "-qq", "-xx", "-s", "16777216", "-e", trace::CALLS, "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args(["power::child_writes_under_strace", "--exact", "--nocapture"])
        .env(CHILD, &folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !traced.is_ok_and(|status| status.success()) {
        println!("skipped: strace is not installed, or may not trace here");
        return;
    }
    let calls = trace::parse(&std::fs::read_to_string(&log).unwrap());
    let answers = calls.iter().filter(|call| matches!(call, Call::Answer { .. })).count();
    assert_eq!(answers, WRITES, "the trace is complete");

    let mut disk = Disk::new(&folder);
    let mut answered = BTreeMap::new();
    let mut cuts = Cuts::default();
    let count = calls.len();
    let every = count / CUTS;
    for (number, call) in calls.into_iter().enumerate() {
        let settling = disk.is_step_in(&folder.join("store/state"), &call);
        match call {
            Call::Answer { name, number } => {
                answered.insert(name, number);
            }
            call => disk.apply(call),
        }
        if settling || number % every == 0 || number % every == every / 3 || number + 1 == count {
            for names in [Names::Synced, Names::Eager, Names::EagerJournal, Names::Killed] {
                let copy = tempfile::tempdir().unwrap();
                disk.restore(copy.path(), names);
                cuts.note(&copy.path().join("store/state"));
                check(copy.path(), &answered, number);
            }
        }
    }
    disk.check();
    println!("{cuts:?}");
    assert!(cuts.unfinished > 0, "some cuts come while a generation is made");
    assert!(cuts.both > 0, "some cuts come before the older generation is removed");
    assert!(cuts.settled > 0, "some cuts come after settling");
}

/// What the cuts left.
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
        let complete = names.iter().filter(|name| !name.contains('.')).count();
        self.all += 1;
        self.unfinished += usize::from(complete < names.len());
        self.both += usize::from(complete > 1);
        self.settled += usize::from(complete > 0);
    }
}

/// Opens what the loss of power left, and looks for what was answered.
fn check(folder: &Path, answered: &BTreeMap<String, usize>, moment: usize) {
    if answered.is_empty() {
        // The store may be half made; it still has to open.
        drop(open(&folder.join("store"), &StorageOptions::default()));
        return;
    }
    let (_storage, things) = open(&folder.join("store"), &StorageOptions::default());
    for (name, number) in answered {
        let found = things.get(&key(name));
        let found = found
            .as_ref()
            .and_then(|entry| entry.row().label("word"))
            .and_then(|word| word.split_once('.'));
        let found: Option<usize> = found.and_then(|(number, _)| number.parse().ok());
        assert!(
            found >= Some(*number),
            "after call {moment}: {name} is {found:?}, {number} was answered"
        );
    }
    assert!(things.list(&ListQuery::all(THINGS)).unwrap().entries.len() <= KEYS);
}

/// Not a test of its own: what [`no_answered_write_is_lost_with_the_power`] runs and traces.
#[test]
fn child_writes_under_strace() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (storage, things) = open(&Path::new(&folder).join("store"), &StorageOptions::default());
        let mut compacting = None;
        for number in 0..WRITES {
            let name = format!("n{}", number % KEYS);
            let written = set(&things, &name, &format!("{number}.{}", "x".repeat(OBJECT))).await;
            trace::answer(&name, number);
            if number % 110 == 95 {
                // In the background, while writes go on.
                storage.compact(written.revision());
                let storage = storage.clone();
                compacting = Some(tokio::spawn(async move { storage.compacted(written.revision()).await }));
            } else if number % 110 == 105 {
                compacting.take().unwrap().await.unwrap();
            }
        }
        storage.close().await;
    });
}
