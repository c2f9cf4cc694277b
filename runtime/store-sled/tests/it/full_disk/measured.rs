//! A disk of a given size that contains only the store.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use planesmith_store::conformance::{THINGS, WordIndex, delete, key, put};
use planesmith_store::log::{Batch, Change, Loader, Log, Record};
use planesmith_store::{AlarmKind, Collection, Expect, Revision, Storage, StorageOptions, WriteError};
use planesmith_store_sled::{DiskSize, Meter, SledLog};

const MB: u64 = 1 << 20;

/// Bytes for the small files of a store: its format, lock, mark and folders.
const FOR_FILES: u64 = 64 << 10;

/// Measures the folder of the store.
#[derive(Debug)]
struct Small {
    total: AtomicU64,
    /// The largest measured size.
    most: AtomicU64,
    /// The largest size of the reserve.
    reserve: AtomicU64,
}

impl Small {
    fn new(total: u64) -> Arc<Self> {
        let [total, most, reserve] = [total, 0, 0].map(AtomicU64::new);
        Arc::new(Self { total, most, reserve })
    }

    /// Lets others take what is free, so that nothing is free but the whole reserve. Running work may have parts of it now.
    fn take_all_but_the_reserve(&self, folder: &Path) {
        let files = ["journal", "state"].map(|name| used(&folder.join(name)));
        let total = files.iter().sum::<u64>() + self.reserve.load(Ordering::SeqCst) + FOR_FILES;
        self.total.fetch_min(total, Ordering::SeqCst);
    }
}

impl Meter for Small {
    fn measure(&self, folder: &Path) -> std::io::Result<DiskSize> {
        let (total, used) = (self.total.load(Ordering::SeqCst), used(folder));
        self.most.fetch_max(used, Ordering::SeqCst);
        self.reserve.fetch_max(reserve(folder), Ordering::SeqCst);
        let free = total.saturating_sub(used);
        Ok(DiskSize { total, free })
    }
}

/// Bytes of the blocks in `folder`, whose files may be removed meanwhile.
fn used(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let used = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => used(&entry.path()),
        Ok(found) => found.blocks() * 512,
        Err(_) => 0,
    });
    used.sum()
}

/// Bytes of the reserve in `folder`.
fn reserve(folder: &Path) -> u64 {
    let found = folder.join("reserve").metadata();
    found.map_or(0, |found| found.blocks() * 512)
}

fn open(folder: &Path, disk: &Arc<Small>) -> (Storage, Arc<Collection>) {
    let log = SledLog::open_measured(folder, Arc::clone(disk) as Arc<Small>).unwrap();
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    (storage, things)
}

/// Words that do not compress, and differ from each other.
fn word(number: usize, length: usize) -> String {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 59) as u8 % 26)
    };
    format!("{number}.{}", (0..length).map(|_| next()).collect::<String>())
}

/// Puts `numbers`, many at a time.
async fn put_all(things: &Arc<Collection>, numbers: impl Iterator<Item = usize>, keys: usize, length: usize) -> usize {
    let numbers: Vec<_> = numbers.collect();
    let mut refused = 0;
    for group in numbers.chunks(100) {
        let writes = group.iter().map(|number| {
            let (things, number) = (Arc::clone(things), *number);
            let put = async move {
                put(
                    &things,
                    &format!("n{}", number % keys),
                    &word(number, length),
                    Expect::Any,
                )
                .await
            };
            tokio::spawn(put)
        });
        for write in writes.collect::<Vec<_>>() {
            match write.await.unwrap() {
                Ok(_) => {}
                Err(WriteError::Full) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
    }
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_times_the_live_data_is_enough_for_updates_without_end() {
    const KEYS: usize = 2000;
    const LENGTH: usize = 4000;
    const ROUNDS: usize = 5;
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let total = 4 * (KEYS * (LENGTH + 100)) as u64;
    let disk = Small::new(total);
    let (storage, things) = open(&folder, &disk);
    let refused = put_all(&things, 0..ROUNDS * KEYS, KEYS, LENGTH).await;
    assert_eq!((refused, storage.alarms()), (0, Vec::new()));
    let most = disk.most.load(Ordering::SeqCst);
    assert!(most <= total, "{most} of {total} bytes were used");
    storage.close().await;
    drop((storage, things));

    let (storage, things) = open(&folder, &disk);
    assert_eq!(storage.revision().0, (ROUNDS * KEYS) as u64);
    for number in (ROUNDS - 1) * KEYS..ROUNDS * KEYS {
        let entry = things.get(&key(&format!("n{}", number % KEYS))).unwrap();
        assert_eq!(entry.row().label("word"), Some(&*word(number, LENGTH)));
    }
    // Work in progress has copies of the slots that it settles.
    storage.close().await;
    let copies = std::fs::read_dir(folder.join("state")).unwrap();
    let copies = copies.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().contains(".read"));
    assert_eq!(copies.count(), 0, "copies for reading are gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_store_starts_and_becomes_less_full_by_deletions() {
    const LENGTH: usize = 20_000;
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let disk = Small::new(24 * MB);
    let (storage, things) = open(&folder, &disk);
    let mut count = 0;
    while put_all(&things, count..count + 20, usize::MAX, LENGTH).await == 0 {
        count += 20;
    }
    assert!(count > 100, "{count} objects fill the disk");
    let alarms = storage.alarms();
    assert_eq!(
        alarms.iter().map(|alarm| alarm.kind).collect::<Vec<_>>(),
        [AlarmKind::NoSpace],
        "{alarms:?}"
    );
    assert!(alarms[0].reason.starts_with("the disk is full: "), "{alarms:?}");
    storage.close().await;
    drop((storage, things));

    let (storage, things) = open(&folder, &disk);
    // More than any journal file has free.
    let long = word(0, 2_900_000);
    assert!(matches!(
        put(&things, "n0", &long, Expect::Present).await,
        Err(WriteError::Full)
    ));
    for number in 0..count {
        let name = format!("n{number}");
        match number % 3 {
            0 => put(&things, &name, "small", Expect::Present).await.unwrap(),
            _ => delete(&things, &name, Expect::Present).await.unwrap(),
        };
    }
    storage.compact(storage.revision());
    storage.compacted(storage.revision()).await;
    // The alarm ends with the next measurement of the disk.
    let deadline = Instant::now() + Duration::from_secs(5);
    while !storage.alarms().is_empty() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(storage.alarms(), Vec::new());
    put(&things, "n0", &long, Expect::Present).await.unwrap();
    assert!(disk.most.load(Ordering::SeqCst) <= 24 * MB);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_store_deletes_large_objects_and_many_at_once() {
    const LENGTH: usize = 100_000;
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    let disk = Small::new(40 * MB);
    let (storage, things) = open(&folder, &disk);
    put(&things, "large", &word(0, 2_900_000), Expect::Any).await.unwrap();
    let mut count = 0;
    while put_all(&things, count..count + 20, usize::MAX, LENGTH).await == 0 {
        count += 20;
    }
    assert!(count > 64, "{count} objects fill the disk");
    disk.take_all_but_the_reserve(&folder);
    delete(&things, "large", Expect::Present).await.unwrap();
    let deletions = (0..64).map(|number| {
        let things = Arc::clone(&things);
        tokio::spawn(async move { delete(&things, &format!("n{number}"), Expect::Present).await })
    });
    for deletion in deletions.collect::<Vec<_>>() {
        deletion.await.unwrap().unwrap();
    }
    storage.close().await;
}

/// A batch of `count` new objects of 20 KB, the first one of revision `first`.
fn batch(first: u64, count: u64) -> Batch {
    let record = |revision: u64| Record {
        revision: Revision(revision),
        key: format!("/things/{revision}").into(),
        change: Change::Put { expires: 0 },
        bytes: word(usize::try_from(revision).unwrap(), 20_000).into(),
        gap: None,
    };
    let records = (first..first + count).map(record).collect();
    Batch { at: 1, records }
}

#[test]
fn settling_has_its_space_as_long_as_writes_have_theirs() {
    const COUNT: u64 = 20;
    let temporary = tempfile::tempdir().unwrap();
    let disk = Small::new(27 * MB);
    let log = SledLog::open_measured(temporary.path().join("store"), Arc::clone(&disk) as Arc<Small>).unwrap();
    log.load(&mut Nobody).unwrap();
    let (mut last, mut live) = (0, 0);
    loop {
        let batch = batch(last + 1, COUNT);
        let bytes = batch.records.iter().map(|record| record.bytes.len() as u64 + 100).sum();
        if !log.has_room(bytes) {
            while log.compact(Revision(last)).unwrap() {}
            if !log.has_room(bytes) {
                break;
            }
        }
        log.append(&batch).unwrap();
        (last, live) = (last + COUNT, live + bytes);
        log.note_live(live);
    }
    assert!(live > 8 * MB, "{live} bytes fill the disk");
    log.close().unwrap();
}

/// Discards the loaded content.
struct Nobody;

impl Loader for Nobody {
    fn state(&mut self, _record: Record) {}
    fn batch(&mut self, _batch: Batch) {}
}

#[tokio::test]
async fn a_start_needs_no_space() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("store");
    crate::fill(crate::eager(&folder)).await;
    // The reserve is removed, too.
    std::fs::remove_file(folder.join("reserve")).unwrap();
    let log = SledLog::open_measured(&folder, Small::new(MB)).unwrap();
    let opened = log.load(&mut Nobody).unwrap();
    assert_eq!((opened.floor, opened.last), (Revision(8), Revision(12)));
}
