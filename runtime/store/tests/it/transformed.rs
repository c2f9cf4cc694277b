//! Values that are transformed before they are written.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use planesmith_store::log::{Batch, Loader, Log as _, Record};
use planesmith_store::{
    Draft, ENCRYPTED, Expect, HistoryLimits, Indexer, ListQuery, Loaded, MemoryLog, Op, PlainValue, Preparation,
    Reason, Revision, RevisionShift, Row, Storage, StorageOptions, StoredForm, TransformError, Transformer,
    Transformers, WatchFrom, WriteError, is_encrypted,
};

const SECRETS: &str = "/secrets/";

/// Shifts bytes by the key that writes, and reads values of the keys that it knows.
#[derive(Clone, Debug)]
pub(crate) struct Shift {
    pub(crate) writer: Arc<AtomicU64>,
    known: Arc<Mutex<Vec<u64>>>,
}

impl Shift {
    pub(crate) fn new(writer: u64, known: &[u64]) -> Self {
        Self {
            writer: Arc::new(AtomicU64::new(writer)),
            known: Arc::new(Mutex::new(known.to_vec())),
        }
    }
}

impl Transformers for Shift {
    fn of(&self, prefix: &str) -> Arc<dyn Transformer> {
        match prefix.starts_with(SECRETS) {
            true => Arc::new(self.clone()),
            false => Arc::new(Shift::new(0, &[])),
        }
    }
}

impl Transformer for Shift {
    fn seal(&self, key: &str, plain: &[u8], reason: Reason) -> Result<Option<Vec<u8>>, TransformError> {
        let writer = self.writer();
        if writer == 0 || is_encrypted(plain) {
            return Ok(None);
        }
        if !self.known.lock().unwrap().contains(&writer) {
            return Err(TransformError::new(format!("there is no key for {reason:?}")));
        }
        let mut sealed = [ENCRYPTED, format!("{writer}:{key}:").as_bytes()].concat();
        sealed.extend(plain.iter().map(|byte| byte.wrapping_add(writer as u8)));
        Ok(Some(sealed))
    }

    fn open<'s>(&self, key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
        let Some(named) = stored.strip_prefix(ENCRYPTED) else {
            return Ok(PlainValue {
                bytes: stored.into(),
                is_stale: self.writer() != 0,
            });
        };
        for writer in &*self.known.lock().unwrap() {
            if let Some(sealed) = named.strip_prefix(format!("{writer}:{key}:").as_bytes()) {
                let plain: Vec<u8> = sealed.iter().map(|byte| byte.wrapping_sub(*writer as u8)).collect();
                return Ok(PlainValue {
                    bytes: plain.into(),
                    is_stale: *writer != self.writer(),
                });
            }
        }
        Err(TransformError::new("there is no such key"))
    }

    fn writer(&self) -> u64 {
        self.writer.load(Ordering::Relaxed)
    }
}

/// Refuses everything but the objects of these tests.
struct Braces;

impl Indexer for Braces {
    fn row(&self, _: &str, bytes: &[u8]) -> Row {
        assert!(bytes.starts_with(b"{"));
        Row::default()
    }

    fn loaded(&self, bytes: &[u8]) -> Loaded {
        match bytes.starts_with(b"{") {
            true => Loaded::AsStored,
            false => Loaded::Unreadable,
        }
    }
}

/// The same objects, of which readers see no password.
struct WithoutPassword;

impl Indexer for WithoutPassword {
    fn row(&self, _: &str, _: &[u8]) -> Row {
        Row::default()
    }

    fn reindexed(&self, _: &[u8]) -> Option<Draft> {
        Some(Draft::new(br#"{"v":""}"#.to_vec(), 6))
    }
}

fn open(log: &MemoryLog, shift: &Shift) -> Storage {
    let options = StorageOptions {
        transformers: Some(Arc::new(shift.clone())),
        kinds: vec![("/none/".to_owned(), HistoryLimits::default())],
        ..StorageOptions::default()
    };
    Storage::open(log.clone(), &options).unwrap()
}

fn put(key: &str) -> Op {
    Op::Put {
        key: key.into(),
        draft: Draft::new(br#"{"password":"clear","v":""}"#.to_vec(), 25),
        row: Row::default(),
        expect: Expect::Any,
        ttl: None,
    }
}

fn delete(key: &str) -> Op {
    Op::Delete {
        key: key.into(),
        expect: Expect::Present,
        last: None,
    }
}

#[derive(Default)]
struct Records(Vec<Record>);

impl Loader for Records {
    fn state(&mut self, record: Record) {
        self.0.push(record);
    }

    fn batch(&mut self, batch: Batch) {
        self.0.extend(batch.records);
    }
}

fn records(log: &MemoryLog) -> Vec<Record> {
    let mut records = Records::default();
    log.load(&mut records).unwrap();
    records.0
}

fn has_clear_text(bytes: &[u8]) -> bool {
    bytes.windows(5).any(|window| window == b"clear")
}

#[tokio::test]
async fn the_backend_has_no_clear_text_and_readers_have_nothing_else() {
    let (log, shift) = (MemoryLog::new().keeping_history(), Shift::new(1, &[1]));
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let others = storage.collection("/others/", Arc::new(Braces));
    secrets.write(put("/secrets/a")).await.unwrap();
    secrets.write(put("/secrets/a")).await.unwrap();
    secrets.write(put("/secrets/b")).await.unwrap();
    secrets.write(delete("/secrets/b")).await.unwrap();
    others.write(put("/others/a")).await.unwrap();
    let expected = |revision: u64| format!(r#"{{"password":"clear","v":"{revision}"}}"#);
    assert_eq!(secrets.get("/secrets/a").unwrap().bytes(), expected(2).as_bytes());
    storage.close().await;
    let stored = records(&log);
    assert_eq!(stored.len(), 5);
    for record in &stored {
        assert_eq!(
            has_clear_text(&record.bytes),
            record.key.starts_with("/others/"),
            "{record:?}"
        );
    }

    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let mut watcher = secrets.watch(SECRETS, WatchFrom::After(Revision::ZERO)).unwrap();
    let mut seen = Vec::new();
    while seen.len() < 4 {
        seen.extend(watcher.next().await.unwrap());
    }
    for (event, revision) in seen.iter().zip(1..) {
        assert_eq!(event.entry().bytes(), expected(revision).as_bytes());
        assert_eq!(event.entry().stored_form(), StoredForm::Current);
    }
    let backup = storage.content().unwrap();
    let sealed = storage.sealed(storage.content().unwrap()).unwrap();
    assert_eq!(sealed.len(), backup.len());
    let all: Vec<Record> = (0..sealed.len()).map(|index| sealed.get(index).unwrap()).collect();
    assert_eq!(all.iter().map(Record::size).sum::<u64>(), sealed.bytes());
    let clear = all.iter().filter(|record| has_clear_text(&record.bytes));
    assert_eq!(clear.map(|record| &*record.key).collect::<Vec<_>>(), ["/others/a"]);
}

#[tokio::test]
async fn a_missing_key_loses_nothing() {
    let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1]));
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    for name in ["a", "b", "c"] {
        secrets.write(put(&format!("/secrets/{name}"))).await.unwrap();
    }
    storage.close().await;
    let before = records(&log);

    let shift = Shift::new(2, &[2]);
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let form = |key: &str| secrets.get(key).unwrap().stored_form();
    assert_eq!(form("/secrets/a"), StoredForm::Unreadable);
    assert_eq!(records(&log), before);
    // Deleted without being read, and not encrypted twice.
    secrets.write(delete("/secrets/b")).await.unwrap();
    assert_eq!(records(&log).last().unwrap().bytes, before[1].bytes);
    // The key comes back.
    shift.known.lock().unwrap().push(1);
    let revision = storage.revision();
    storage.transform_again();
    assert_eq!(form("/secrets/a"), StoredForm::Earlier);
    assert_eq!(
        secrets.get("/secrets/a").unwrap().bytes(),
        &br#"{"password":"clear","v":"1"}"#[..]
    );
    assert_eq!(form("/secrets/c"), StoredForm::Earlier);
    assert_eq!(storage.revision(), revision);
}

#[tokio::test]
async fn entries_of_another_key_are_stale_until_they_are_written() {
    let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1, 2]));
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let form = |key: &str| secrets.get(key).unwrap().stored_form();
    secrets.write(put("/secrets/a")).await.unwrap();
    secrets.write(put("/secrets/b")).await.unwrap();
    storage.transform_again();
    assert_eq!(form("/secrets/a"), StoredForm::Current);
    shift.writer.store(2, Ordering::Relaxed);
    storage.transform_again();
    assert_eq!(form("/secrets/a"), StoredForm::Earlier);
    secrets.write(put("/secrets/a")).await.unwrap();
    assert_eq!(form("/secrets/a"), StoredForm::Current);
    assert_eq!(form("/secrets/b"), StoredForm::Earlier);
    storage.close().await;

    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let page = secrets.list(&ListQuery::all(SECRETS)).unwrap();
    let forms: Vec<StoredForm> = page.entries.iter().map(|entry| entry.stored_form()).collect();
    assert_eq!(forms, [StoredForm::Current, StoredForm::Earlier]);
}

#[tokio::test]
async fn objects_that_are_written_anew_expire_as_before() {
    let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1, 2]));
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let mut expiring = put("/secrets/a");
    if let Op::Put { ttl, .. } = &mut expiring {
        *ttl = Some(Duration::from_secs(500));
    }
    secrets.write(expiring).await.unwrap();
    secrets.write(put("/secrets/b")).await.unwrap();
    let expires = || ["a", "b"].map(|name| secrets.get(&format!("/secrets/{name}")).unwrap().expires());
    let before = expires();
    assert!(before[0].is_some() && before[1].is_none());
    shift.writer.store(2, Ordering::Relaxed);
    storage.transform_again();
    let mut stale = storage.stale_objects();
    assert_eq!(stale.left(), 2);
    let step = stale.step().await.unwrap().unwrap();
    assert_eq!((step.objects, expires()), (2, before));
    assert_eq!(storage.stale_objects().left(), 0);
    storage.close().await;
}

#[tokio::test]
async fn an_object_that_its_definition_changes_is_written_anew_as_it_is_stored() {
    for writer in [0, 2] {
        let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1, 2]));
        let storage = open(&log, &shift);
        let secrets = storage.collection(SECRETS, Arc::new(Braces));
        let created = secrets.write(put("/secrets/a")).await.unwrap().revision();
        let indexer: Arc<dyn Indexer> = Arc::new(WithoutPassword);
        secrets.reindex(&indexer);
        let shown = secrets.get("/secrets/a").unwrap();
        assert_eq!(*shown.bytes(), *format!(r#"{{"v":"{}"}}"#, created.0).as_bytes());
        shift.writer.store(writer, Ordering::Relaxed);
        storage.transform_again();
        let step = storage.stale_objects().step().await.unwrap().unwrap();
        assert_eq!(step.objects, 1);
        storage.close().await;
        drop(secrets);
        let storage = open(&log, &shift);
        let stored = storage.collection(SECRETS, Arc::new(Braces)).get("/secrets/a").unwrap();
        let expected = format!(r#"{{"password":"clear","v":"{}"}}"#, stored.revision().0);
        assert_eq!(*stored.bytes(), *expected.as_bytes(), "with the key {writer}");
        assert!(stored.revision() > created);
        storage.close().await;
    }
}

/// Changes its key as soon as it has sealed a value.
#[derive(Clone, Debug)]
struct Turning {
    shift: Shift,
    storage: Arc<OnceLock<Storage>>,
}

impl Transformers for Turning {
    fn of(&self, _: &str) -> Arc<dyn Transformer> {
        Arc::new(self.clone())
    }
}

impl Transformer for Turning {
    fn seal(&self, key: &str, plain: &[u8], reason: Reason) -> Result<Option<Vec<u8>>, TransformError> {
        let sealed = self.shift.seal(key, plain, reason);
        self.shift.writer.store(2, Ordering::Relaxed);
        self.storage.get().unwrap().transform_again();
        sealed
    }

    fn open<'s>(&self, key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
        self.shift.open(key, stored)
    }

    fn writer(&self) -> u64 {
        self.shift.writer()
    }
}

#[tokio::test]
async fn a_value_whose_key_changes_during_its_write_is_written_anew() {
    let turning = Turning {
        shift: Shift::new(1, &[1, 2]),
        storage: Arc::default(),
    };
    let options = StorageOptions {
        transformers: Some(Arc::new(turning.clone())),
        ..StorageOptions::default()
    };
    let storage = Storage::open(MemoryLog::new(), &options).unwrap();
    turning.storage.set(storage.clone()).unwrap();
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    secrets.write(put("/secrets/a")).await.unwrap();
    assert_eq!(storage.stale_objects().left(), 1);
    storage.stale_objects().step().await.unwrap();
    assert_eq!(storage.stale_objects().left(), 0);
    storage.close().await;
}

#[tokio::test]
async fn a_write_that_cannot_be_encrypted_is_refused_and_a_deletion_is_not() {
    let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1]));
    let storage = open(&log, &shift);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    let others = storage.collection("/others/", Arc::new(Braces));
    secrets.write(put("/secrets/a")).await.unwrap();
    shift.writer.store(3, Ordering::Relaxed);
    let refused = secrets.write(put("/secrets/b")).await.unwrap_err();
    assert!(matches!(refused, WriteError::Transform(_)), "{refused}");
    others.write(put("/others/a")).await.unwrap();
    secrets.write(delete("/secrets/a")).await.unwrap();
    assert!(secrets.is_empty(SECRETS));
    assert!(
        records(&log)
            .iter()
            .all(|record| record.key.starts_with("/others/") || !has_clear_text(&record.bytes))
    );
    assert!(storage.sealed(storage.content().unwrap()).is_ok());
}

#[tokio::test]
async fn a_restored_value_is_opened_at_its_new_revision() {
    let (log, shift) = (MemoryLog::new(), Shift::new(1, &[1]));
    let storage = open(&log, &shift);
    storage
        .collection(SECRETS, Arc::new(Braces))
        .write(put("/secrets/a"))
        .await
        .unwrap();
    storage.close().await;
    let moved = records(&log).remove(0);
    let shift_of = RevisionShift::default().at_least(moved.revision, moved.revision);
    let moved = shift_of.restamped(moved);
    assert!(moved.revision > Revision(1000));
    let other = MemoryLog::new();
    let (at, revision) = (1, moved.revision);
    let records = vec![moved];
    other.append(&Batch { at, records }).unwrap();
    let secrets = open(&other, &shift).collection(SECRETS, Arc::new(Braces));
    let entry = secrets.get("/secrets/a").unwrap();
    assert_eq!(
        entry.bytes(),
        format!(r#"{{"password":"clear","v":"{revision}"}}"#).as_bytes()
    );
}

/// Knows its key once it is prepared for a value.
#[derive(Clone, Debug)]
struct Fetched(Shift);

impl Transformers for Fetched {
    fn of(&self, prefix: &str) -> Arc<dyn Transformer> {
        self.0.of(prefix)
    }

    fn prepare(&self, stored: &mut dyn Iterator<Item = &[u8]>) -> Option<Preparation> {
        let mut stored = stored;
        Iterator::find(&mut stored, |value| is_encrypted(value))?;
        let (done, preparation) = Preparation::new();
        let known = Arc::clone(&self.0.known);
        std::thread::spawn(move || {
            known.lock().unwrap().push(1);
            drop(done);
        });
        Some(preparation)
    }
}

#[tokio::test]
async fn a_collection_fetches_keys_that_were_forgotten_since_its_values_were_loaded() {
    let log = MemoryLog::new();
    let storage = open(&log, &Shift::new(1, &[1]));
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    secrets.write(put("/secrets/a")).await.unwrap();
    secrets.write(put("/secrets/b")).await.unwrap();
    storage.close().await;

    let fetched = Fetched(Shift::new(1, &[]));
    let options = StorageOptions {
        transformers: Some(Arc::new(fetched.clone())),
        ..StorageOptions::default()
    };
    let storage = Storage::open(log, &options).unwrap();
    let known = || fetched.0.known.lock().unwrap().clone();
    assert_eq!(known(), [1]);
    fetched.0.known.lock().unwrap().clear();
    let _others = storage.collection("/others/", Arc::new(Braces));
    assert_eq!(known(), []);
    let secrets = storage.collection(SECRETS, Arc::new(Braces));
    assert_eq!(known(), [1]);
    assert_eq!(secrets.get("/secrets/a").unwrap().stored_form(), StoredForm::Current);
}

#[tokio::test]
async fn prefixes_without_a_collection_cover_all_other_keys_and_do_not_nest() {
    let log = MemoryLog::new();
    let storage = Storage::open(log.clone(), &StorageOptions::default()).unwrap();
    let registry = storage.collection("/registry/", Arc::new(Braces));
    let keys = [
        "/registry/example.com/things/one",
        "/registry/example.com/widgets/default/one",
        "/registry/example.com/widgets/one",
        "/registry/hosts/192.0.2.1",
        "/registry/hosts/192.0.2.2",
        "/registry/ranges/default/one",
        "/registry/ranges/one",
        "/registry/secrets/default/one",
        "/registry/example.com/beside",
        "/registry/beside",
    ];
    for key in keys {
        registry.write(put(key)).await.unwrap();
    }
    storage.close().await;
    let storage = Storage::open(log, &StorageOptions::default()).unwrap();
    let _known = ["/registry/example.com/things/", "/registry/secrets/"]
        .map(|prefix| storage.collection(prefix, Arc::new(Braces)));
    let expected = [
        "/registry/beside",
        "/registry/example.com/beside",
        "/registry/example.com/widgets/",
        "/registry/hosts/",
        "/registry/ranges/",
    ];
    assert_eq!(Vec::from_iter(storage.unopened_prefixes()), expected);
}
