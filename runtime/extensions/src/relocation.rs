//! Objects of custom kinds at keys of earlier programs, which left the group out of those of `*.k8s.io`, so that
//! kinds of two groups shared keys.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use planesmith_control_plane::resource_client::text;
use planesmith_dynamic::custom;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{ResourceStore, Stores, row_of};
use planesmith_store::{
    Collection, Draft, Entry, EventKind, Expect, ListQuery, NoIndex, Op, Revision, Storage, WatchError, WatchFrom,
    WriteError,
};
use serde_json::Value;

/// Number of objects that are moved concurrently: writes that wait together become durable together.
const CONCURRENT: usize = 64;

/// Moves the objects of a kind to its own keys. The kind must not be served before all are moved.
///
/// Revisions before the last move are compacted for the kind, because its history does not tell the objects of that time.
///
/// # Errors
///
/// If an object could not be written or deleted. Another call continues.
pub(crate) async fn relocate(stores: &Stores, kind: &ResourceFacts) -> Result<(), WriteError> {
    // A store in which others write has kube-apiserver's keys.
    if stores.storage().is_shared() {
        return Ok(());
    }
    // A definition whose names were never accepted has no objects.
    if !kind.group.ends_with(".k8s.io") || kind.plural.is_empty() || is_built_in(stores.scheme(), kind) {
        return Ok(());
    }
    let store = &stores.resource(kind);
    let prefix = format!("/registry/{}/", kind.plural);
    let earlier = &store.storage().collection(&prefix, Arc::new(NoIndex));
    // The newest state is never compacted.
    let page = earlier.list(&ListQuery::all(&prefix));
    let entries = page.map(|page| page.entries).unwrap_or_default();
    let own = entries.into_iter().filter(|entry| is_of(kind, entry));
    let moves = stream::iter(own).map(|entry| async move {
        let moved = move_entry(store, kind, earlier, &entry).await;
        if let Err(error) = &moved {
            tracing::warn!(key = entry.key(), %error, "an object could not be moved from the key of an earlier program");
        }
        moved
    });
    // A full disk refuses the others, too; the next call continues.
    let moved = moves.buffer_unordered(CONCURRENT).try_for_each(async |()| Ok(())).await;
    if let Some(last) = last_removal(store.storage(), earlier, kind) {
        store.collection().raise_floor(last);
    }
    moved
}

/// Returns the revision of the last deletion of an object of `kind` at an earlier key, by a start or by a user; `None` if
/// the store has forgotten it, and every revision before it.
fn last_removal(storage: &Storage, earlier: &Arc<Collection>, kind: &ResourceFacts) -> Option<Revision> {
    let mut from = storage.oldest();
    loop {
        // Changes may be forgotten meanwhile.
        match last_removal_after(from, earlier, kind) {
            Err(WatchError::Compacted { oldest }) => from = oldest,
            Err(WatchError::Closed) => return None,
            Ok(last) => return last,
        }
    }
}

/// Returns the revision of the last deletion of an object of `kind` after `from`.
fn last_removal_after(
    from: Revision,
    earlier: &Arc<Collection>,
    kind: &ResourceFacts,
) -> Result<Option<Revision>, WatchError> {
    let mut watcher = earlier.watch(earlier.prefix(), WatchFrom::After(from))?;
    let mut last = None;
    loop {
        let events = watcher.try_next()?;
        if events.is_empty() {
            return Ok(last);
        }
        let removals = events
            .iter()
            .filter(|event| event.kind() == EventKind::Delete && is_of(kind, event.entry()));
        last = removals.map(|event| event.revision()).max().or(last);
    }
}

/// True if the server has a kind of this name itself. Its objects stay where they are, whatever a definition says.
fn is_built_in(scheme: &Scheme, kind: &ResourceFacts) -> bool {
    let mut own = scheme.iter().filter(|own| own.group == kind.group);
    own.any(|own| own.kind == kind.kind || own.plural == kind.plural)
}

/// True if the object says that it is of `kind`.
fn is_of(kind: &ResourceFacts, entry: &Entry) -> bool {
    let Ok(document) = serde_json::from_slice::<Value>(&entry.bytes()) else {
        return false;
    };
    let version = GroupVersion::parse(text(&document, "/apiVersion"));
    version.is_ok_and(|version| version.group == kind.group) && text(&document, "/kind") == kind.kind
}

/// Moves an object: the new key is written before the old one is deleted. An object that cannot be read, or whose new key
/// holds another object, keeps the old key.
async fn move_entry(
    store: &ResourceStore,
    kind: &ResourceFacts,
    earlier: &Arc<Collection>,
    entry: &Entry,
) -> Result<(), WriteError> {
    let Some(object) = read(kind, entry) else {
        tracing::warn!(
            key = entry.key(),
            "an object cannot be read and keeps the key of an earlier program"
        );
        return Ok(());
    };
    let encoded = json::encode_for_storage(&*object);
    let name = &entry.key()[earlier.prefix().len()..];
    let op = Op::Put {
        key: format!("{}{name}", store.collection().prefix()).into(),
        draft: Draft::new(encoded.bytes, encoded.gap),
        row: row_of(&*object),
        expect: Expect::Absent,
        ttl: None,
    };
    match store.collection().write(op).await {
        Ok(_) => {}
        // An earlier start was interrupted here.
        Err(WriteError::Conflict { current: Some(moved) }) if uid(&moved) == uid(entry) => {}
        Err(WriteError::Conflict { .. }) => {
            tracing::warn!(
                key = entry.key(),
                "the new key of an object of an earlier program holds another object"
            );
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    let op = Op::Delete {
        key: entry.key().into(),
        expect: Expect::Revision(entry.revision()),
        last: None,
    };
    earlier.write(op).await.map(drop)
}

/// Returns the UID in the bytes of an object; empty if it has none.
fn uid(entry: &Entry) -> String {
    let document: Value = serde_json::from_slice(&entry.bytes()).unwrap_or_default();
    text(&document, "/metadata/uid").to_owned()
}

/// Returns the object in its storage version; `None` if it cannot be read or its version is unknown.
fn read(kind: &ResourceFacts, entry: &Entry) -> Option<Box<dyn Object>> {
    let document: Value = serde_json::from_slice(&entry.stored_bytes()).ok()?;
    let version = kind.defined_version(text(&document, "/apiVersion"))?;
    custom::read(&entry.stored_bytes(), &version).ok()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::pin::pin;
    use std::sync::Mutex;

    use futures_util::FutureExt as _;
    use planesmith_api_defs::coordination::v1::Lease;
    use planesmith_dynamic::custom::{CustomKind, CustomVersion, Unchecked};
    use planesmith_dynamic::structural::Structural;
    use planesmith_machinery::resource::ResourceTable;
    use planesmith_store::log::{Batch, Loader, Log, LogError, Opened};
    use planesmith_store::{At, MemoryLog, Row, StorageOptions};
    use serde_json::json;

    use super::*;

    fn kind(group: &'static str, api_version: &'static str) -> ResourceFacts {
        kind_of(group, api_version, "widgets")
    }

    fn kind_of(group: &'static str, api_version: &'static str, plural: &'static str) -> ResourceFacts {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let version = CustomVersion {
            table: ResourceTable {
                group: Cow::Borrowed(group),
                version: Cow::Borrowed("v1"),
                api_version: Cow::Borrowed(api_version),
                kind: Cow::Borrowed("Widget"),
                plural: Cow::Borrowed(plural),
                storage_name: Cow::Borrowed(plural),
                ..CustomKind::FACTS
            },
            schema: Arc::new(Structural::compile(&schema)),
            checks: Arc::new(Unchecked),
        };
        CustomKind::define(vec![version], 0, None).remove(0)
    }

    /// Stores of `scheme`, and the collection in which earlier programs kept the objects of `plural`.
    fn stores(scheme: Scheme, plural: &str) -> (Stores, Arc<Collection>) {
        stores_on(MemoryLog::new(), scheme, plural)
    }

    fn stores_on(log: impl Log + 'static, scheme: Scheme, plural: &str) -> (Stores, Arc<Collection>) {
        let storage = Storage::open(log, &StorageOptions::default()).unwrap();
        let earlier = storage.collection(&format!("/registry/{plural}/"), Arc::new(NoIndex));
        (Stores::new(storage, Arc::new(scheme)), earlier)
    }

    async fn put(collection: &Arc<Collection>, key: &str, object: &Value) {
        let op = Op::Put {
            key: key.into(),
            draft: Draft::gapless(object.to_string().into_bytes()),
            row: Row::default(),
            expect: Expect::Absent,
            ttl: None,
        };
        collection.write(op).await.unwrap();
    }

    fn widget(api_version: &str, name: &str, uid: &str) -> Value {
        json!({"apiVersion": api_version, "kind": "Widget", "metadata": {"name": name, "namespace": "n", "uid": uid}})
    }

    fn keys(collection: &Collection) -> Vec<String> {
        let page = collection.list(&ListQuery::all(collection.prefix())).unwrap();
        page.entries.iter().map(|entry| entry.key().to_owned()).collect()
    }

    #[tokio::test]
    async fn objects_of_two_groups_part() {
        let kinds = [kind("a.k8s.io", "a.k8s.io/v1"), kind("b.k8s.io", "b.k8s.io/v1")];
        let (stores, earlier) = stores(Scheme::new(), "widgets");
        for (name, api_version) in [("one", "a.k8s.io/v1"), ("two", "b.k8s.io/v1"), ("three", "c.k8s.io/v1")] {
            put(
                &earlier,
                &format!("/registry/widgets/n/{name}"),
                &widget(api_version, name, name),
            )
            .await;
        }
        for (kind, name) in kinds.into_iter().zip(["one", "two"]) {
            relocate(&stores, &kind).await.unwrap();
            let store = stores.resource(&kind);
            assert_eq!(store.collection().stats().entries, 1);
            let moved = store.collection().get(&store.key("n", name).unwrap()).unwrap();
            assert_eq!(store.decode(&moved).unwrap().meta().name, name);
        }
        assert_eq!(
            keys(&earlier),
            ["/registry/widgets/n/three"],
            "the objects of a kind without a definition stay"
        );
    }

    #[tokio::test]
    async fn an_interrupted_move_continues_and_another_object_is_kept() {
        let kind = kind("d.k8s.io", "d.k8s.io/v1");
        let (stores, earlier) = stores(Scheme::new(), "widgets");
        let moved = stores.resource(&kind);
        for (name, uids) in [("same", ["1", "1"]), ("other", ["2", "3"])] {
            put(
                &earlier,
                &format!("/registry/widgets/n/{name}"),
                &widget("d.k8s.io/v1", name, uids[0]),
            )
            .await;
            let key = moved.key("n", name).unwrap();
            put(moved.collection(), &key, &widget("d.k8s.io/v1", name, uids[1])).await;
        }
        relocate(&stores, &kind).await.unwrap();
        assert_eq!(keys(&earlier), ["/registry/widgets/n/other"]);
        assert_eq!(moved.collection().stats().entries, 2);
    }

    #[tokio::test]
    async fn revisions_before_a_move_are_compacted_also_after_a_restart() {
        let kind = kind("e.k8s.io", "e.k8s.io/v1");
        let log = MemoryLog::new();
        let (stores, earlier) = stores_on(log.clone(), Scheme::new(), "widgets");
        put(&earlier, "/registry/widgets/n/one", &widget("e.k8s.io/v1", "one", "1")).await;
        // Other collections keep their history.
        let others = stores.storage().collection("/registry/others/", Arc::new(NoIndex));
        put(&others, "/registry/others/n/one", &widget("v1", "one", "2")).await;
        let before = stores.storage().revision();
        relocate(&stores, &kind).await.unwrap();
        let after = stores.storage().revision();
        stores.storage().close().await;
        let (restarted, _) = stores_on(log, Scheme::new(), "widgets");
        relocate(&restarted, &kind).await.unwrap();
        for stores in [stores, restarted] {
            let store = stores.resource(&kind);
            let moved = store.collection();
            for revision in [before, Revision(after.0 - 1)] {
                let watch = moved.watch(moved.prefix(), WatchFrom::After(revision));
                assert_eq!(watch.err(), Some(WatchError::Compacted { oldest: after }));
                let list = moved.list(&ListQuery {
                    at: At::Exact(revision),
                    ..ListQuery::all(moved.prefix())
                });
                assert!(list.is_err(), "{revision}");
            }
            assert_eq!(keys(moved), [store.key("n", "one").unwrap()]);
            moved.watch(moved.prefix(), WatchFrom::After(after)).unwrap();
            let others = stores.storage().collection("/registry/others/", Arc::new(NoIndex));
            others.watch(others.prefix(), WatchFrom::After(before)).unwrap();
        }
    }

    /// A log that records the sizes of batches, and waits for `gate` before it appends one.
    #[derive(Clone, Default)]
    struct Gated {
        log: MemoryLog,
        gate: Arc<Mutex<()>>,
        batches: Arc<Mutex<Vec<usize>>>,
    }

    impl Log for Gated {
        fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
            self.log.load(loader)
        }

        fn append(&self, batch: &Batch) -> Result<(), LogError> {
            drop(self.gate.lock().unwrap());
            self.batches.lock().unwrap().push(batch.records.len());
            self.log.append(batch)
        }

        fn compact(&self, floor: Revision) -> Result<bool, LogError> {
            self.log.compact(floor)
        }

        fn size(&self) -> u64 {
            self.log.size()
        }
    }

    #[tokio::test]
    async fn objects_are_moved_many_per_batch() {
        let kind = kind("f.k8s.io", "f.k8s.io/v1");
        let log = Gated::default();
        let (stores, earlier) = stores_on(log.clone(), Scheme::new(), "widgets");
        for number in 0..2 * CONCURRENT {
            let name = format!("w{number}");
            put(
                &earlier,
                &format!("/registry/widgets/n/{name}"),
                &widget("f.k8s.io/v1", &name, &name),
            )
            .await;
        }
        log.batches.lock().unwrap().clear();
        let mut relocation = pin!(relocate(&stores, &kind));
        let closed = log.gate.lock().unwrap();
        // The committer may take the first writes before it sees the others.
        assert!(relocation.as_mut().now_or_never().is_none());
        drop(closed);
        relocation.await.unwrap();
        assert_eq!(keys(&earlier), [""; 0]);
        let batches = log.batches.lock().unwrap();
        assert!(batches[0] + batches[1] >= CONCURRENT, "{batches:?}");
        assert_eq!(batches.iter().sum::<usize>(), 4 * CONCURRENT);
    }

    #[tokio::test]
    async fn objects_of_built_in_kinds_stay() {
        let mut scheme = Scheme::new();
        scheme.add::<Lease>();
        let (stores, earlier) = stores(scheme, "leases");
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "n"}});
        put(&earlier, "/registry/leases/n/a", &lease).await;
        let like_leases = kind_of("coordination.k8s.io", "coordination.k8s.io/v1", "leases");
        relocate(&stores, &like_leases).await.unwrap();
        assert_eq!(keys(&earlier), ["/registry/leases/n/a"]);
    }
}
