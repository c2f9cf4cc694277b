//! `kill -9` in the middle of 16 writers.
//!
//! A child process (this test binary again) writes, and reports answers and watched changes on its standard output. The
//! parent kills it, opens the store, and compares. Rounds: `PLANESMITH_CRASH_ROUNDS`, default 4.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use planesmith_store::conformance::{THINGS, delete, put};
use planesmith_store::{Collection, EventKind, Expect, ListQuery, Revision, StorageOptions, WatchFrom};

use crate::open;

const WRITERS: usize = 16;
/// Keys of each writer and round.
const KEYS: usize = 30;
/// The environment variable of the child: the round and the folder.
const CHILD: &str = "PLANESMITH_CRASH_CHILD";

/// The output of one round's child.
#[derive(Default)]
struct ChildReport {
    /// The number of answered operations of each writer, which are answered in order.
    answered: [usize; WRITERS],
    /// Revisions that were answered or watched: the writer and its operation.
    revisions: BTreeMap<u64, (usize, usize)>,
    /// The revision up to which a watcher saw all changes.
    seen: u64,
}

#[test]
fn every_answered_write_survives_kill_9() {
    let rounds = std::env::var("PLANESMITH_CRASH_ROUNDS").map_or(4, |rounds| rounds.parse().unwrap());
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let mut expected = BTreeMap::new();
    let mut newest = 0;
    let mut writes = 0;
    for round in 0..rounds {
        let report = kill_in_the_middle(round, &folder);
        let first = *report.revisions.keys().next().unwrap();
        assert!(
            first > newest,
            "revision {first} was given away again, {newest} was seen before"
        );
        newest = newest.max(check(round, &folder, &report, &mut expected));
        writes += report.answered.iter().sum::<usize>();
    }
    println!(
        "{rounds} rounds, {writes} answered writes, {} keys, revision {newest}",
        expected.len()
    );
}

/// Runs a child for a moment. Returns its output before it was killed.
fn kill_in_the_middle(round: usize, folder: &Path) -> ChildReport {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::child_writes_until_it_is_killed", "--exact", "--nocapture"])
        .env(CHILD, format!("{round} {}", folder.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut report = ChildReport::default();
    // From the first answer on, so that a slow start does not make an empty round.
    while report.revisions.is_empty() {
        let line = lines.next().expect("the child does not end by itself").unwrap();
        report.hear(&line);
    }
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(40 + (round as u64 * 37) % 160));
        kill(&mut child);
    });
    for line in lines {
        report.hear(&line.unwrap());
    }
    killer.join().unwrap();
    report
}

fn kill(child: &mut Child) {
    // SIGKILL: the process gets no chance to finish anything.
    child.kill().unwrap();
    child.wait().unwrap();
}

impl ChildReport {
    fn hear(&mut self, line: &str) {
        let mut words = line.split(' ');
        let Some(sign @ ("answered" | "saw")) = words.next() else {
            return;
        };
        let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        let [revision, writer, operation] = numbers[..] else {
            // Cut off by the kill.
            return;
        };
        let (writer, operation) = (writer as usize, operation as usize);
        let known = self.revisions.insert(revision, (writer, operation));
        assert!(
            known.is_none_or(|known| known == (writer, operation)),
            "two writes have revision {revision}"
        );
        if sign == "saw" {
            assert!(revision > self.seen, "a watcher saw {revision} after {}", self.seen);
            self.seen = revision;
        } else {
            assert_eq!(operation, self.answered[writer], "answers come in order");
            self.answered[writer] += 1;
        }
    }
}

/// The operation `number` of a writer: the key, and the new state, or `None` to delete it.
fn operation(round: usize, writer: usize, number: usize) -> (String, Option<String>) {
    let name = format!("{round}-{writer}-{}", number % KEYS);
    let deletes = number >= KEYS && number % 7 == 3;
    (
        name,
        (!deletes).then(|| format!("{writer}.{number}.{}", "x".repeat(900))),
    )
}

/// The names that exist after a writer's first `count` operations.
fn state_after(round: usize, writer: usize, count: usize) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    for number in 0..count {
        match operation(round, writer, number) {
            (name, Some(word)) => state.insert(name, word),
            (name, None) => state.remove(&name),
        };
    }
    state
}

fn contents(things: &Collection, prefix: &str) -> BTreeMap<String, String> {
    let page = things.list(&ListQuery::all(prefix)).unwrap();
    let of = |text: Option<&str>| text.unwrap().to_owned();
    page.entries
        .iter()
        .map(|entry| (of(entry.key().strip_prefix(THINGS)), of(entry.row().label("word"))))
        .collect()
}

/// Opens the store and compares it with the child's output. Returns its revision.
fn check(round: usize, folder: &Path, report: &ChildReport, expected: &mut BTreeMap<String, String>) -> u64 {
    let (storage, things) = open(folder, &options(round));
    let newest = *report.revisions.keys().next_back().unwrap();
    assert!(
        storage.revision().0 >= newest,
        "revision {newest} was reported, {} is there",
        storage.revision()
    );
    for writer in 0..WRITERS {
        let found = contents(&things, &format!("{THINGS}{round}-{writer}-"));
        // The operation after the last answered one had been sent.
        let answered = report.answered[writer];
        let possible = [
            state_after(round, writer, answered),
            state_after(round, writer, answered + 1),
        ];
        assert!(
            possible.contains(&found),
            "writer {writer} misses some of its {answered} answered writes"
        );
        expected.extend(found);
    }
    assert_eq!(
        contents(&things, THINGS),
        *expected,
        "other rounds' writes are there too"
    );

    // A client resumes from any revision that it saw, as far as history reaches.
    for from in [report.revisions.keys().next().copied(), Some(report.seen), Some(newest)]
        .into_iter()
        .flatten()
    {
        let from = from.max(storage.oldest().0);
        let mut watcher = things.watch(THINGS, WatchFrom::After(Revision(from))).unwrap();
        let mut found = BTreeMap::new();
        let mut last = from;
        while let events @ [_, ..] = &watcher.try_next().unwrap()[..] {
            for event in events {
                assert!(event.revision().0 > last, "a watch goes back");
                last = event.revision().0;
                found.insert(last, Arc::clone(event));
            }
        }
        assert_eq!(last.max(from), storage.revision().0);
        for (revision, (writer, number)) in report.revisions.range(from + 1..) {
            let event = found
                .get(revision)
                .unwrap_or_else(|| panic!("a watch after {from} misses {revision}"));
            let (name, word) = operation(round, *writer, *number);
            assert_eq!(event.entry().key().strip_prefix(THINGS), Some(&*name));
            assert_eq!(event.kind() == EventKind::Delete, word.is_none());
        }
    }
    storage.revision().0
}

/// Options whose history is forgotten so fast in every other round that files are settled all the time.
fn options(round: usize) -> StorageOptions {
    let journal_bytes = if round % 2 == 1 {
        1 << 20
    } else {
        StorageOptions::default().journal_bytes
    };
    StorageOptions {
        journal_bytes,
        ..StorageOptions::default()
    }
}

/// Not a test of its own: the child that [`every_answered_write_survives_kill_9`] runs and kills.
#[test]
fn child_writes_until_it_is_killed() {
    let Ok(arguments) = std::env::var(CHILD) else {
        return;
    };
    let (round, folder) = arguments.split_once(' ').unwrap();
    let round: usize = round.parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (_storage, things) = open(Path::new(folder), &options(round));
        let watcher = tokio::spawn(watch(Arc::clone(&things)));
        let writers = (0..WRITERS).map(|writer| tokio::spawn(write(Arc::clone(&things), round, writer)));
        // A parent that was killed must not leave a writer behind.
        let deadline = tokio::time::sleep(Duration::from_secs(20));
        let writers: Vec<_> = writers.collect();
        deadline.await;
        drop((writers, watcher));
    });
    #[expect(clippy::disallowed_methods, reason = "a crash runs no destructors")]
    std::process::exit(1);
}

async fn write(things: Arc<Collection>, round: usize, writer: usize) {
    for number in 0.. {
        let (name, word) = operation(round, writer, number);
        let written = match word {
            Some(word) => put(&things, &name, &word, Expect::Any).await,
            None => delete(&things, &name, Expect::Present).await,
        };
        tell(&format!("answered {} {writer} {number}.", written.unwrap().revision()));
    }
}

async fn watch(things: Arc<Collection>) {
    let mut watcher = things.watch(THINGS, WatchFrom::Now).unwrap();
    // In the rounds with short history, a slow watcher just ends.
    while let Ok(events) = watcher.next().await {
        for event in events {
            // Deletions do not name their operation.
            let word = event.entry().row().label("word").unwrap_or_default();
            let mut parts = word.split('.');
            if let (EventKind::Put { .. }, Some(writer), Some(number)) = (event.kind(), parts.next(), parts.next()) {
                tell(&format!("saw {} {writer} {number}.", event.revision()));
            }
        }
    }
}

/// One write of one line, so that lines are whole or missing. The dot shows that numbers are whole.
fn tell(line: &str) {
    let line = format!("{}\n", line.replace('.', " ."));
    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
}
