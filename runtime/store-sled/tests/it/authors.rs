//! States that the same program has written are not decoded again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use planesmith_store::conformance::THINGS;
use planesmith_store::log::{Batch, Change, Loader, Log, Record};
use planesmith_store::{Draft, Expect, Indexer, Loaded, Op, Revision, Row, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

/// So many that their author is stored.
const STATES: usize = 10_000;

/// A kind whose objects begin with the number of the program that wrote them.
#[derive(Debug)]
struct Kind {
    program: u8,
    decoded: AtomicUsize,
    known: AtomicUsize,
}

impl Indexer for Kind {
    fn row(&self, _key: &str, _bytes: &[u8]) -> Row {
        Row::default()
    }

    fn loaded(&self, bytes: &[u8]) -> Loaded {
        self.decoded.fetch_add(1, Ordering::Relaxed);
        let mut today = bytes.to_vec();
        today[0] = self.program;
        Loaded::Encoded(Draft::gapless(today))
    }

    fn loaded_again(&self, bytes: &[u8]) -> Loaded {
        assert_eq!(bytes[0], self.program, "another program has written it");
        self.known.fetch_add(1, Ordering::Relaxed);
        Loaded::AsStored
    }

    fn fingerprint(&self) -> Option<u64> {
        (self.program > 0).then_some(self.program.into())
    }
}

struct Nobody;

impl Loader for Nobody {
    fn state(&mut self, _record: Record) {}
    fn batch(&mut self, _batch: Batch) {}
}

/// Writes the objects of `program` as another process does.
fn fill(folder: &Path, program: u8) {
    let log = SledLog::open(folder).unwrap();
    log.load(&mut Nobody).unwrap();
    let record = |number: usize| Record {
        revision: Revision(number as u64 + 1),
        key: format!("{THINGS}{number:05}").into(),
        change: Change::Put { expires: 0 },
        bytes: vec![program, b'x'].into(),
        gap: None,
    };
    let records = (0..STATES).map(record).collect();
    log.append(&Batch { at: 1, records }).unwrap();
    log.close().unwrap();
}

/// Opens the store as `program`, which writes the first `writes` objects. Returns the numbers of decoded and of known states.
async fn live(folder: &Path, program: u8, writes: usize) -> (usize, usize) {
    let kind = Arc::new(Kind {
        program,
        decoded: AtomicUsize::new(0),
        known: AtomicUsize::new(0),
    });
    let options = StorageOptions {
        // Only the newest states are loaded.
        history_bytes: 0,
        journal_bytes: 0,
        ..StorageOptions::default()
    };
    let storage = Storage::open(SledLog::open(folder).unwrap(), &options).unwrap();
    let things = storage.collection(THINGS, Arc::clone(&kind) as Arc<Kind>);
    let counts = (kind.decoded.load(Ordering::Relaxed), kind.known.load(Ordering::Relaxed));
    let writes = (0..writes).map(|number| {
        let op = Op::Put {
            key: format!("{THINGS}{number:05}").into(),
            draft: Draft::gapless(vec![program, b'y']),
            row: Row::default(),
            expect: Expect::Present,
            ttl: None,
        };
        let things = Arc::clone(&things);
        tokio::spawn(async move { things.write(op).await.unwrap() })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.unwrap();
    }
    storage.close().await;
    counts
}

#[tokio::test]
async fn a_program_decodes_what_another_one_has_written_and_nothing_twice() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(&folder, 1);
    assert_eq!(live(&folder, 1, 3).await, (STATES, 0), "nobody knows who wrote them");
    assert_eq!(live(&folder, 1, 0).await, (0, STATES));
    assert_eq!(live(&folder, 1, 0).await, (0, STATES));

    assert_eq!(live(&folder, 2, 5).await, (STATES, 0));
    assert_eq!(
        live(&folder, 2, 0).await,
        (STATES - 5, 5),
        "the rest is in an earlier form"
    );
    assert_eq!(live(&folder, 2, STATES).await, (STATES - 5, 5));
    assert_eq!(live(&folder, 2, 0).await, (0, STATES));
    assert_eq!(live(&folder, 1, 0).await, (STATES, 0));
}

#[tokio::test]
async fn a_program_that_is_not_known_leaves_no_author_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(&folder, 1);
    live(&folder, 1, 0).await;
    assert_eq!(live(&folder, 0, 3).await, (STATES, 0));
    assert_eq!(live(&folder, 1, 0).await, (STATES, 0));
}

#[tokio::test]
async fn programs_that_only_read_leave_the_authors() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(&folder, 1);
    live(&folder, 1, 0).await;
    let log = SledLog::open(&folder).unwrap();
    log.load(&mut Nobody).unwrap();
    log.close().unwrap();
    let options = StorageOptions::default();
    Storage::open(SledLog::open(&folder).unwrap(), &options)
        .unwrap()
        .close()
        .await;
    assert_eq!(live(&folder, 1, 0).await, (0, STATES));
}

#[tokio::test]
async fn states_of_a_program_that_does_not_know_the_file_are_decoded() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    fill(&folder, 1);
    live(&folder, 1, 0).await;
    let authors = std::fs::read(folder.join("authors")).unwrap();
    live(&folder, 2, 3).await;
    // What an earlier program leaves: the file as it was, and a mark with zeros in place of the key.
    std::fs::write(folder.join("authors"), authors).unwrap();
    let mut mark = std::fs::read(folder.join("mark")).unwrap();
    mark[48..].fill(0);
    let checksum = crc32fast::hash(&[&mark[..12], &mark[16..]].concat());
    mark[12..16].copy_from_slice(&checksum.to_le_bytes());
    std::fs::write(folder.join("mark"), mark).unwrap();
    assert_eq!(live(&folder, 1, 0).await, (STATES, 0));
}

#[tokio::test]
async fn a_collection_that_became_large_is_known_at_the_next_start_however_the_process_ends() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let kind = Kind {
        program: 1,
        decoded: AtomicUsize::new(0),
        known: AtomicUsize::new(0),
    };
    let storage = Storage::open(SledLog::open(&folder).unwrap(), &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(kind));
    let creations = (0..STATES).map(|number| {
        let op = Op::Put {
            key: format!("{THINGS}{number:05}").into(),
            draft: Draft::gapless(vec![1, b'x']),
            row: Row::default(),
            expect: Expect::Absent,
            ttl: None,
        };
        let things = Arc::clone(&things);
        tokio::spawn(async move { things.write(op).await.unwrap() })
    });
    for creation in creations.collect::<Vec<_>>() {
        creation.await.unwrap();
    }
    let stored = async {
        while !folder.join("authors").exists() {
            tokio::task::yield_now().await;
        }
    };
    let stored = tokio::time::timeout(std::time::Duration::from_secs(60), stored);
    stored.await.expect("the author is stored while the store is open");
    storage.close().await;
    drop((storage, things));
    assert_eq!(live(&folder, 1, 0).await, (0, STATES));
}
