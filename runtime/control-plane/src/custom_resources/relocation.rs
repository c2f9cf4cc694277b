//! Objects of custom kinds at keys of earlier programs, which left the group out of those of `*.k8s.io`, so that
//! kinds of two groups shared keys.

use std::sync::Arc;

use planesmith_dynamic::custom;
use planesmith_extensions::Definitions;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_server::stores::{ResourceStore, row_of};
use planesmith_store::{Collection, Draft, Entry, Expect, ListQuery, NoIndex, Op, WriteError};
use serde_json::Value;

use crate::objects::text;

/// Moves the objects of a kind to its own keys. The kind must not be served yet.
pub(super) async fn relocate(definitions: &Definitions, kind: &'static ResourceFacts) {
    // A definition whose names were never accepted has no objects.
    if !kind.group.ends_with(".k8s.io") || kind.plural.is_empty() {
        return;
    }
    let store = definitions.stores().resource(kind);
    let prefix = format!("/registry/{}/", kind.plural);
    // A built-in kind may have an object there, which stays.
    let earlier = store.storage().collection(&prefix, Arc::new(NoIndex));
    // The newest state is never compacted.
    let page = earlier.list(&ListQuery::all(&prefix));
    for entry in page.map(|page| page.entries).unwrap_or_default() {
        if let Err(error) = move_entry(&store, kind, &earlier, &entry).await {
            tracing::warn!(key = &**entry.key(), %error, "an object keeps the key of an earlier program, where it is not served");
        }
    }
}

/// Moves an object if it is of `kind`: the new key is written before the old one is deleted.
async fn move_entry(
    store: &ResourceStore,
    kind: &'static ResourceFacts,
    earlier: &Arc<Collection>,
    entry: &Entry,
) -> Result<(), WriteError> {
    let Some(object) = read(kind, entry) else {
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
        // An earlier start was interrupted here.
        Ok(_) | Err(WriteError::Conflict { .. }) => {}
        Err(error) => return Err(error),
    }
    let op = Op::Delete {
        key: Arc::clone(entry.key()),
        expect: Expect::Revision(entry.revision()),
        last: None,
    };
    earlier.write(op).await.map(drop)
}

/// Returns the object in its storage version; `None` for objects of other kinds.
fn read(kind: &'static ResourceFacts, entry: &Entry) -> Option<Box<dyn Object>> {
    let document: Value = serde_json::from_slice(entry.bytes()).ok()?;
    let api_version = text(&document, "/apiVersion");
    let group = GroupVersion::parse(api_version).ok()?.group;
    if group != kind.group || text(&document, "/kind") != kind.kind {
        return None;
    }
    let version = kind.custom?.version(api_version)?;
    custom::read(entry.bytes(), version).ok()
}

#[cfg(test)]
mod tests {
    use planesmith_dynamic::custom::{CustomKind, Unchecked};
    use planesmith_dynamic::structural::Structural;
    use planesmith_server::stores::Stores;
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

    #[tokio::test]
    async fn objects_of_two_groups_part() {
        let kinds = [kind("a.k8s.io", "a.k8s.io/v1"), kind("b.k8s.io", "b.k8s.io/v1")];
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::default());
        let storage = stores.resource(kinds[0]).storage().clone();
        let earlier = storage.collection("/registry/widgets/", Arc::new(NoIndex));
        for (name, api_version) in [("one", "a.k8s.io/v1"), ("two", "b.k8s.io/v1"), ("three", "c.k8s.io/v1")] {
            let object =
                json!({"apiVersion": api_version, "kind": "Widget", "metadata": {"name": name, "namespace": "n"}});
            let op = Op::Put {
                key: format!("/registry/widgets/n/{name}").into(),
                draft: Draft::gapless(object.to_string().into_bytes()),
                row: Row::default(),
                expect: Expect::Absent,
                ttl: None,
            };
            earlier.write(op).await.unwrap();
        }
        for (kind, name) in kinds.into_iter().zip(["one", "two"]) {
            let store = stores.resource(kind);
            for entry in earlier.list(&ListQuery::all(earlier.prefix())).unwrap().entries {
                move_entry(&store, kind, &earlier, &entry).await.unwrap();
            }
            assert_eq!(store.collection().stats().entries, 1);
            let moved = store.collection().get(&store.key("n", name).unwrap()).unwrap();
            assert_eq!(store.decode(&moved).unwrap().meta().name, name);
        }
        // The objects of a kind without a definition stay.
        let left = earlier.list(&ListQuery::all(earlier.prefix())).unwrap().entries;
        assert_eq!(&**left[0].key(), "/registry/widgets/n/three");
        assert_eq!(left.len(), 1);
    }
}
