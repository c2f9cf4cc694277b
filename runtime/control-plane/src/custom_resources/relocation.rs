//! Objects of custom kinds at keys of earlier programs, which left the group out of those of `*.k8s.io`, so that
//! kinds of two groups shared keys.

use std::sync::Arc;

use planesmith_dynamic::custom;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{ResourceStore, Stores, row_of};
use planesmith_store::{Collection, Draft, Entry, Expect, ListQuery, NoIndex, Op, WriteError};
use serde_json::Value;

use crate::resource_client::text;

/// Moves the objects of a kind to its own keys. The kind must not be served before all are moved.
///
/// # Errors
///
/// If an object could not be written or deleted; the others are moved. Another call continues.
pub(super) async fn relocate(stores: &Stores, kind: &'static ResourceFacts) -> Result<(), WriteError> {
    // A definition whose names were never accepted has no objects.
    if !kind.group.ends_with(".k8s.io") || kind.plural.is_empty() || is_built_in(stores.scheme(), kind) {
        return Ok(());
    }
    let store = stores.resource(kind);
    let prefix = format!("/registry/{}/", kind.plural);
    let earlier = store.storage().collection(&prefix, Arc::new(NoIndex));
    // The newest state is never compacted.
    let page = earlier.list(&ListQuery::all(&prefix));
    let mut outcome = Ok(());
    for entry in page.map(|page| page.entries).unwrap_or_default() {
        if is_of(kind, &entry)
            && let Err(error) = move_entry(&store, kind, &earlier, &entry).await
        {
            tracing::warn!(key = &**entry.key(), %error, "an object could not be moved from the key of an earlier program");
            outcome = Err(error);
        }
    }
    outcome
}

/// True if the server has a kind of this name itself. Its objects stay where they are, whatever a definition says.
fn is_built_in(scheme: &Scheme, kind: &ResourceFacts) -> bool {
    let mut own = scheme.iter().filter(|own| own.group == kind.group);
    own.any(|own| own.kind == kind.kind || own.plural == kind.plural)
}

/// True if the object says that it is of `kind`.
fn is_of(kind: &ResourceFacts, entry: &Entry) -> bool {
    let Ok(document) = serde_json::from_slice::<Value>(entry.bytes()) else {
        return false;
    };
    let version = GroupVersion::parse(text(&document, "/apiVersion"));
    version.is_ok_and(|version| version.group == kind.group) && text(&document, "/kind") == kind.kind
}

/// Moves an object: the new key is written before the old one is deleted. An object that cannot be read, or whose new key
/// holds another object, keeps the old key.
async fn move_entry(
    store: &ResourceStore,
    kind: &'static ResourceFacts,
    earlier: &Arc<Collection>,
    entry: &Entry,
) -> Result<(), WriteError> {
    let Some(object) = read(kind, entry) else {
        tracing::warn!(
            key = &**entry.key(),
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
                key = &**entry.key(),
                "the new key of an object of an earlier program holds another object"
            );
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    let op = Op::Delete {
        key: Arc::clone(entry.key()),
        expect: Expect::Revision(entry.revision()),
        last: None,
    };
    earlier.write(op).await.map(drop)
}

/// Returns the UID in the bytes of an object; empty if it has none.
fn uid(entry: &Entry) -> String {
    let document: Value = serde_json::from_slice(entry.bytes()).unwrap_or_default();
    text(&document, "/metadata/uid").to_owned()
}

/// Returns the object in its storage version; `None` if it cannot be read or its version is unknown.
fn read(kind: &'static ResourceFacts, entry: &Entry) -> Option<Box<dyn Object>> {
    let document: Value = serde_json::from_slice(entry.bytes()).ok()?;
    let version = kind.custom?.version(text(&document, "/apiVersion"))?;
    custom::read(entry.bytes(), version).ok()
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::coordination::v1::Lease;
    use planesmith_dynamic::custom::{CustomKind, Unchecked};
    use planesmith_dynamic::structural::Structural;
    use planesmith_store::{MemoryLog, Row, Storage, StorageOptions};
    use serde_json::json;

    use super::*;

    fn kind(group: &'static str, api_version: &'static str) -> &'static ResourceFacts {
        let facts = ResourceFacts {
            group,
            version: "v1",
            api_version,
            kind: "Widget",
            plural: "widgets",
            storage_name: "widgets",
            ..CustomKind::FACTS
        };
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let facts = CustomKind::leak(facts, Arc::new(Structural::compile(&schema)), Arc::new(Unchecked));
        CustomKind::join(&[facts], facts);
        facts
    }

    /// Stores of `scheme`, and the collection in which earlier programs kept the objects of `plural`.
    fn stores(scheme: Scheme, plural: &str) -> (Stores, Arc<Collection>) {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
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
        page.entries.iter().map(|entry| entry.key().to_string()).collect()
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
            relocate(&stores, kind).await.unwrap();
            let store = stores.resource(kind);
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
        let moved = stores.resource(kind);
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
        relocate(&stores, kind).await.unwrap();
        assert_eq!(keys(&earlier), ["/registry/widgets/n/other"]);
        assert_eq!(moved.collection().stats().entries, 2);
    }

    #[tokio::test]
    async fn objects_of_built_in_kinds_stay() {
        let mut scheme = Scheme::new();
        scheme.add::<Lease>();
        let (stores, earlier) = stores(scheme, "leases");
        let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "n"}});
        put(&earlier, "/registry/leases/n/a", &lease).await;
        let like_leases = ResourceFacts {
            plural: "leases",
            storage_name: "leases",
            ..*kind("coordination.k8s.io", "coordination.k8s.io/v1")
        };
        relocate(&stores, Box::leak(Box::new(like_leases))).await.unwrap();
        assert_eq!(keys(&earlier), ["/registry/leases/n/a"]);
    }
}
