//! The embedded store: a log, the engine's threads, and the collections.

mod connect;
mod content;
mod opening;
mod rewriting;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use self::content::StorageContent;
pub use self::rewriting::{Rewritten, StaleObjects};
use crate::authorship::Authorship;
use crate::backend::BackendError;
use crate::collection::{CollectionStats, Sequencer};
use crate::collections::Collections;
use crate::committer::{Committer, Queue};
use crate::compactor::{Compactor, Marks, Retention};
use crate::compression::Compressor;
use crate::encodings::EncodingCache;
use crate::log::{Log, LogError};
use crate::options::{HistoryLimits, StorageOptions};
use crate::remote::{Remote, Writer};
use crate::revision_window::RevisionWindow;
use crate::settler::Settling;
use crate::transformer::Transformers;
use crate::unclaimed::Unclaimed;
use crate::values::StoredKeys;
use crate::write::WriteError;
use crate::{Alarm, Alarms, Collection, Indexer, Revision, alarm};

/// The reason that a store does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The backend does not load.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The backend does not answer.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A thread of the engine did not start.
    #[error("a thread of the store did not start")]
    Thread(#[source] std::io::Error),
}

/// Counts about a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageStats {
    /// Bytes on disk.
    pub disk_bytes: u64,
    /// Counts by the prefix of a collection.
    pub collections: BTreeMap<String, CollectionStats>,
}

/// A handle to an open store; clones are handles to the same one.
///
/// The store closes when [`Storage::close`] is called or the last handle is dropped; both wait
/// until queued writes are durable.
#[derive(Clone)]
pub struct Storage {
    shared: Arc<Shared>,
}

struct Shared {
    revisions: Arc<RevisionWindow>,
    queue: Arc<Queue>,
    marks: Arc<Marks>,
    settling: Arc<Settling>,
    log: Arc<dyn Log>,
    alarms: Alarms,
    collections: Collections,
    authorship: Arc<Authorship>,
    unclaimed: Arc<Mutex<Unclaimed>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    encodings: EncodingCache,
    /// Limits of the history of single collections.
    kinds: Vec<(String, HistoryLimits)>,
    /// Transform the values of all collections; `None` if the backend has plain ones.
    transformers: Option<Arc<dyn Transformers>>,
    /// The keys in a store in which others write, too; `None` if they are the same.
    stored_keys: Option<Arc<StoredKeys>>,
    /// The engine and the sequencer of a store in which others write, too.
    remote: Option<(Arc<Remote>, Arc<Writer>)>,
}

impl Storage {
    /// Opens the store on `log`. Reads its whole content, so call it where blocking is allowed.
    ///
    /// # Errors
    ///
    /// [`OpenError::Log`] when the backend cannot be loaded.
    pub fn open(log: impl Log + 'static, options: &StorageOptions) -> Result<Self, OpenError> {
        Self::open_shared(Arc::new(log), options)
    }

    /// As [`open`](Self::open), on a log whose type is not known.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_shared(log: Arc<dyn Log>, options: &StorageOptions) -> Result<Self, OpenError> {
        let mut unclaimed = Unclaimed::new(options, log.keeps_history());
        let opened = log.load(&mut unclaimed)?;
        let (marks, forgotten) = unclaimed.finish();
        // After the end of loading, which puts all states in their places.
        if let Some(transformers) = &options.transformers {
            transformers.prepare_blocking(&mut unclaimed.values_under(""));
        }
        let floor = opened.floor.max(forgotten);
        let revisions = Arc::new(RevisionWindow::new(floor, opened.last));
        let marks = Arc::new(Marks::new(options, marks, Arc::clone(&log)));
        let settling = Arc::new(Settling::new(floor));
        let retention = Retention {
            marks: Arc::clone(&marks),
            settling: Arc::clone(&settling),
            revisions: Arc::clone(&revisions),
        };
        let queue = Arc::new(Queue::new(options.write_limit));
        let collections = Collections::default();
        let committer = Committer::new(
            Arc::clone(&queue),
            Arc::clone(&log),
            Arc::clone(&revisions),
            retention,
            collections.clone(),
            Arc::clone(&options.clock),
            unclaimed.bytes(),
        );
        let alarms = Alarms::new(Arc::clone(&options.clock));
        let authorship = Arc::new(Authorship::new(Arc::clone(&log)));
        let compactor = Compactor::new(
            Arc::clone(&marks),
            Arc::clone(&settling),
            Arc::clone(&revisions),
            collections.clone(),
        );
        let settler = (
            Arc::clone(&settling),
            Arc::clone(&log),
            alarms.clone(),
            Arc::clone(&authorship),
        );
        let threads = vec![
            spawn("store-commit", move || committer.run())?,
            spawn("store-trim", move || compactor.run())?,
            spawn("store-compact", move || {
                settler.0.run(&settler.1, &settler.2, &settler.3)
            })?,
        ];
        let shared = Shared {
            revisions,
            queue,
            marks,
            settling,
            log,
            alarms,
            collections,
            authorship,
            unclaimed: Arc::new(Mutex::new(unclaimed)),
            threads: Mutex::new(threads),
            encodings: EncodingCache::default(),
            kinds: options.kinds.clone(),
            transformers: options.transformers.clone(),
            stored_keys: None,
            remote: None,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The memory for derived encodings of the entries and events of this store.
    #[must_use]
    pub fn encodings(&self) -> &EncodingCache {
        &self.shared.encodings
    }

    /// The collection of all keys that start with `prefix`, for example `/registry/configmaps/`.
    ///
    /// The first call for a prefix indexes the loaded records; later calls return the same collection and do not use
    /// their `indexer`. Prefixes must not nest.
    #[must_use]
    pub fn collection(&self, prefix: &str, indexer: Arc<dyn Indexer>) -> Arc<Collection> {
        self.prepare(prefix);
        let values = self.values(prefix);
        let writer = values.writer();
        let compressor = Compressor::default();
        let decoded = match &self.shared.remote {
            None => Vec::new(),
            Some(_) => self.decode_stored(prefix, (&*indexer, &values), &compressor),
        };
        // Locked until the collection is registered, so that two callers create one.
        let mut unclaimed = self.shared.unclaimed();
        if let Some(collection) = self.shared.collections.get(prefix) {
            return collection;
        }
        debug_assert!(
            self.shared.collections.of(prefix).is_none(),
            "{prefix} is within another collection"
        );
        let sequencer: Arc<dyn Sequencer> = match &self.shared.remote {
            None => Arc::clone(&self.shared.queue) as Arc<Queue>,
            Some((_, writer)) => Arc::clone(writer) as Arc<Writer>,
        };
        let revisions = Arc::clone(&self.shared.revisions);
        let limits = self.shared.kinds.iter().rfind(|(kind, _)| kind == prefix);
        let limits = limits.map_or_else(HistoryLimits::default, |(_, limits)| *limits);
        let collection = Collection::new(prefix, indexer, revisions, sequencer);
        let collection = collection.with_values(values, writer).with_compressor(compressor);
        let collection = Arc::new(collection.with_history(Arc::clone(&self.shared.log), limits));
        let expiring = match &self.shared.remote {
            None => self.claim(&mut unclaimed, &collection),
            Some(_) => {
                unclaimed.claim_stored(&collection, &decoded);
                // Earlier states of its keys are unknown.
                collection.raise_floor(self.revision());
                Vec::new()
            }
        };
        self.shared.collections.add(Arc::clone(&collection));
        // Loaded changes may be older than the current floor.
        collection.trim(self.oldest(), usize::MAX);
        collection.spill(self.shared.marks.spilled_through(), usize::MAX);
        self.shared.queue.expect_expiry(expiring);
        drop(unclaimed);
        if collection.values().writer() != writer {
            // The keys have changed while the states were decoded, and the change did not find the collection.
            collection.transform_again(self.is_shared());
        }
        collection
    }

    /// Follows a change of the keys of [`StorageOptions::transformers`]: objects that were written with another key are written anew
    /// by their next write, and objects that could not be opened are opened again. Blocks, in proportion to the number of objects.
    pub fn transform_again(&self) {
        for collection in self.shared.collections.all() {
            collection.transform_again(self.is_shared());
        }
    }

    /// The newest revision that is visible to all readers.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.shared.revisions.visible()
    }

    /// The oldest revision at which lists and after which watches are possible.
    #[must_use]
    pub fn oldest(&self) -> Revision {
        self.shared.revisions.oldest()
    }

    /// Waits until `revision` is visible, for `deadline` at most; true if it is.
    pub async fn wait_for(&self, revision: Revision, deadline: Duration) -> bool {
        if self.revision() >= revision {
            return true;
        }
        tokio::time::timeout(deadline, self.shared.revisions.reached(revision))
            .await
            .is_ok()
    }

    /// Forgets history up to and including `revision` (at most the newest one), and lets the backend free space in the
    /// background.
    pub fn compact(&self, revision: Revision) {
        let revision = revision.min(self.revision());
        self.shared.marks.compact_to(revision);
        if let Some((remote, _)) = &self.shared.remote {
            remote.compact(revision);
        }
    }

    /// Waits until history up to and including `revision` is forgotten, whether by request, by age or by size, and the
    /// backend has freed what it can.
    pub async fn compacted(&self, revision: Revision) {
        self.shared.settling.done(revision).await;
    }

    /// Forgets history up to and including `revision`, and waits until the backend has freed all the space that it can,
    /// however little that is. True if it did not fail; otherwise the alarm
    /// [`AlarmKind::Settling`](crate::AlarmKind::Settling) has the reason, and it tries again later.
    pub async fn compact_fully(&self, revision: Revision) -> bool {
        let revision = revision.min(self.revision());
        self.compact(revision);
        self.compacted(revision).await;
        self.shared.log.settle_everything();
        let settling = Arc::clone(&self.shared.settling);
        tokio::task::spawn_blocking(move || settling.run_now())
            .await
            .unwrap_or(false)
    }

    /// Reads the clock again, and handles what is due. Needed only after a [`Clock`](crate::Clock) jumped.
    pub fn recheck_clock(&self) {
        self.shared.queue.nudge();
        self.shared.marks.nudge();
    }

    /// Like [`Self::recheck_clock`]. Returns when the history that is due is forgotten.
    #[cfg(feature = "conformance")]
    pub(crate) async fn rechecked(&self) {
        self.shared.queue.nudge();
        self.shared.marks.passed(self.shared.marks.nudge()).await;
    }

    /// True if history that does not fit into memory is read back from the backend. Otherwise it is forgotten.
    #[must_use]
    pub fn keeps_history(&self) -> bool {
        self.shared.log.keeps_history()
    }

    /// Counts about the store.
    #[must_use]
    pub fn stats(&self) -> StorageStats {
        let collections = self.shared.collections.all();
        StorageStats {
            disk_bytes: self.shared.log.size(),
            collections: collections
                .iter()
                .map(|collection| (collection.prefix().to_owned(), collection.stats()))
                .collect(),
        }
    }

    /// Succeeds if writes can be expected to succeed: the store is open, and the last batch reached the disk.
    ///
    /// # Errors
    ///
    /// The error of the last write, or [`WriteError::Closed`].
    pub fn health(&self) -> Result<(), WriteError> {
        match &self.shared.remote {
            None => self.shared.queue.health(),
            Some((remote, _)) => remote.health(),
        }
    }

    /// The lasting faults of the store, at most one alarm of each kind; empty when all is well.
    #[must_use]
    pub fn alarms(&self) -> Vec<Alarm> {
        let shared = &self.shared;
        alarm::merged(shared.alarms.all().into_iter().chain(shared.log.alarms()))
    }

    /// Closes the store: queued writes become durable, later ones are refused with `Closed`, watches end after
    /// delivering all events, and the files are closed.
    ///
    /// Reads continue from memory.
    pub async fn close(&self) {
        let shared = Arc::clone(&self.shared);
        // The threads may still wait for the disk, which must not block the runtime.
        let closed = tokio::task::spawn_blocking(move || shared.close()).await;
        debug_assert!(closed.is_ok(), "closing does not panic");
    }
}

impl Shared {
    fn unclaimed(&self) -> MutexGuard<'_, Unclaimed> {
        self.unclaimed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        if let Some((remote, _)) = &self.remote {
            remote.close();
        }
        self.queue.close();
        self.marks.close();
        self.settling.close();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.is_empty() {
            return;
        }
        for thread in threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the store panicked");
            }
        }
        for collection in self.collections.all() {
            collection.close();
        }
        self.authorship.store_large();
        if let Err(error) = self.log.close() {
            tracing::warn!(%error, "the log of the store cannot be closed cleanly; acknowledged writes are durable");
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Storage")
            .field("revisions", &self.shared.revisions)
            .finish_non_exhaustive()
    }
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(OpenError::Thread)
}

#[cfg(test)]
mod tests {
    use super::{Storage, StorageOptions};
    use crate::{
        Draft, EventKind, Expect, Indexer, ListQuery, Loaded, MemoryLog, NoIndex, Op, Revision, Row, StoredForm,
        WatchFrom, WriteError,
    };
    use std::sync::Arc;

    fn put(key: &str, expect: Expect) -> Op {
        let draft = Draft::new(b"{\"v\":\"\"}".to_vec(), 6);
        Op::Put {
            key: key.into(),
            draft,
            row: Row::default(),
            expect,
            ttl: None,
        }
    }

    #[tokio::test]
    async fn a_write_is_visible_when_it_is_answered_and_survives_a_restart() {
        let log = MemoryLog::new();
        let storage = Storage::open(log.clone(), &StorageOptions::default()).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        let mut watcher = things.watch("/things/", WatchFrom::Now).unwrap();

        let written = things.write(put("/things/a", Expect::Absent)).await.unwrap();
        assert_eq!(written.revision(), Revision(1));
        assert_eq!(storage.revision(), Revision(1));
        assert_eq!(things.get("/things/a").unwrap().bytes(), &b"{\"v\":\"1\"}"[..]);
        let refused = things.write(put("/things/a", Expect::Absent)).await;
        assert!(matches!(refused, Err(WriteError::Conflict { current: Some(_) })));
        let events = watcher.next().await.unwrap();
        assert_eq!(events[0].kind(), EventKind::Put { created: true });
        assert_eq!(watcher.progress(), Revision(1));

        storage.close().await;
        let closed = things.write(put("/things/b", Expect::Absent)).await;
        assert!(matches!(closed, Err(WriteError::Closed)));
        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        assert_eq!(things.list(&ListQuery::all("/things/")).unwrap().entries.len(), 1);
        assert_eq!(storage.revision(), Revision(1));
    }

    #[tokio::test]
    async fn a_collection_goes_with_the_last_of_its_history_when_nobody_uses_it() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let open = |prefix| storage.collection(prefix, Arc::new(NoIndex));
        let (used, full, gone, others) = (open("/used/"), open("/full/"), open("/gone/"), open("/others/"));
        full.write(put("/full/a", Expect::Absent)).await.unwrap();
        for (collection, key) in [(&used, "/used/a"), (&gone, "/gone/a")] {
            collection.write(put(key, Expect::Absent)).await.unwrap();
            let key = key.into();
            let (expect, last) = (Expect::Any, None);
            collection.write(Op::Delete { key, expect, last }).await.unwrap();
        }
        drop((full, gone));
        // The committer is done with the others when it answers this.
        others.write(put("/others/a", Expect::Absent)).await.unwrap();
        let last = storage.revision();
        assert!(storage.stats().collections.contains_key("/gone/"), "it has history");
        storage.compact(last);
        storage.compacted(last).await;
        let left: Vec<String> = storage.stats().collections.into_keys().collect();
        assert_eq!(left, ["/full/", "/others/", "/used/"]);
        let anew = open("/gone/");
        assert!(anew.list(&ListQuery::all("/gone/")).unwrap().entries.is_empty());
        anew.write(put("/gone/a", Expect::Absent)).await.unwrap();
        assert_eq!(open("/full/").stats().entries, 1);
    }

    /// Reads bytes that begin with `{"v"` unchanged, those with `{"old"` in another form, and no others.
    struct Upgrade;

    impl Indexer for Upgrade {
        fn row(&self, _: &str, bytes: &[u8]) -> Row {
            let text = std::str::from_utf8(bytes).unwrap();
            Row::new([("text", text)], [])
        }

        fn loaded(&self, bytes: &[u8]) -> Loaded {
            let draft = || Draft::new(b"{\"v\":\"\"}".to_vec(), 6);
            match bytes {
                bytes if bytes.starts_with(b"{\"v\"") => Loaded::Encoded(draft()),
                bytes if bytes.starts_with(b"{\"old\"") => Loaded::Converted(draft()),
                _ => Loaded::Unreadable,
            }
        }
    }

    #[tokio::test]
    async fn loaded_states_and_changes_take_the_form_that_the_kind_has_today() {
        let log = MemoryLog::new();
        let storage = Storage::open(log.clone(), &StorageOptions::default()).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        for (key, bytes, gap) in [
            ("/things/a", &b"{\"old\":\"\"}"[..], 8),
            ("/things/b", b"{\"v\":\"\"}", 6),
            ("/things/c", b"?", 1),
        ] {
            let draft = Draft::new(bytes.to_vec(), gap);
            let op = Op::Put {
                key: key.into(),
                draft,
                row: Row::default(),
                expect: Expect::Absent,
                ttl: None,
            };
            things.write(op).await.unwrap();
        }
        storage.close().await;

        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let things = storage.collection("/things/", Arc::new(Upgrade));
        let read = |key: &str| {
            let entry = things.get(key).unwrap();
            let text = String::from_utf8(entry.bytes().to_vec()).unwrap();
            assert_eq!(entry.row().label("text"), Some(text.as_str()));
            (text, entry.stored_form())
        };
        assert_eq!(
            read("/things/a"),
            ("{\"v\":\"1\"}".to_owned(), StoredForm::OtherVersion)
        );
        assert_eq!(read("/things/b"), ("{\"v\":\"2\"}".to_owned(), StoredForm::Current));
        assert_eq!(read("/things/c"), ("?3".to_owned(), StoredForm::Unreadable));
        let mut watcher = things.watch("/things/", WatchFrom::After(Revision::ZERO)).unwrap();
        things
            .write(put("/things/a", Expect::Revision(Revision(1))))
            .await
            .unwrap();
        let delete = Op::Delete {
            key: "/things/c".into(),
            expect: Expect::Present,
            last: None,
        };
        things.write(delete).await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < 5 {
            seen.extend(watcher.next().await.unwrap());
        }
        let forms: Vec<StoredForm> = seen.iter().map(|event| event.entry().stored_form()).collect();
        assert_eq!(
            forms,
            [
                StoredForm::OtherVersion,
                StoredForm::Current,
                StoredForm::Unreadable,
                StoredForm::Current,
                StoredForm::Unreadable
            ]
        );
        assert_eq!(seen[0].entry().bytes(), &b"{\"v\":\"1\"}"[..]);
    }
}
