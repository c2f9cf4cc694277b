//! Removes the objects of a terminating definition.
//!
//! They are removed in the version in which they are stored: a webhook that does not answer cannot block that. An
//! object of an unknown version is marked in the storage version, so that the owner of a finalizer can read it.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use planesmith_control_plane::resource_client::text;
use planesmith_dynamic::custom;
use planesmith_machinery::json;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::time::Time;
use planesmith_server::stores::{ResourceStore, row_of};
use planesmith_store::{Draft, Entry, Expect, Op};
use serde_json::Value;

use crate::definitions::Definitions;

/// The number of objects that are removed at once: writes that wait together become durable together.
const BATCH: usize = 256;

/// Removes the objects of a kind. Those with finalizers are marked, and deleted once they have none.
pub(crate) async fn remove_all(definitions: &Definitions, kind: &ResourceFacts) {
    let store = &definitions.stores().resource(kind);
    let now = Time::from(definitions.stores().scheme().clock().now());
    let remove = |entry: Arc<Entry>| async move {
        let Some(op) = removal(store, kind, &entry, now) else {
            return;
        };
        // Changes by other writers are found in the next round.
        if let Err(error) = store.collection().write(op).await {
            tracing::debug!(kind = %kind.kind, %error, "an object is not removed yet");
        }
    };
    let entries = stream::iter(definitions.entries(kind));
    entries.for_each_concurrent(BATCH, remove).await;
}

/// Returns the next operation that removes an object; `None` if there is nothing left to do.
fn removal(store: &ResourceStore, kind: &ResourceFacts, entry: &Entry, now: Time) -> Option<Op> {
    let mut document: Value = serde_json::from_slice(&entry.stored_bytes()).ok()?;
    let expect = Expect::Revision(entry.revision());
    let is_held = document
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|finalizers| !finalizers.is_empty());
    if !is_held {
        return Some(Op::Delete {
            key: entry.key().into(),
            expect,
            last: None,
        });
    }
    let known = kind.defined_version(text(&document, "/apiVersion"));
    let stored = known.as_ref().unwrap_or(store.facts());
    let mut object = if known.is_some() {
        custom::read(&entry.stored_bytes(), stored).ok()?
    } else {
        document["apiVersion"] = (*stored.api_version).into();
        custom::read(document.to_string().as_bytes(), stored).ok()?
    };
    let meta = object.meta_mut();
    if meta.deletion_timestamp.is_some() {
        return None;
    }
    meta.deletion_timestamp = Some(now);
    meta.deletion_grace_period_seconds = Some(0);
    meta.generation += 1;
    let encoded = json::encode_for_storage(&*object);
    let row = match stored == store.facts() {
        true => row_of(&*object),
        false => entry.row().to_row(),
    };
    Some(Op::Put {
        key: entry.key().into(),
        draft: Draft::new(encoded.bytes, encoded.gap),
        row,
        expect,
        ttl: None,
    })
}

#[cfg(test)]
mod tests {
    use crate::definition::Definition;
    use crate::{KnownFacts, SchemaChecks};
    use planesmith_machinery::clock::{Clock, SystemClock};
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::stores::Stores;
    use planesmith_store::{MemoryLog, Row, Storage, StorageOptions};
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn an_object_with_finalizers_is_marked_in_any_version() {
        let definition = json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "names": {"plural": "widgets", "kind": "Widget"},
                "scope": "Namespaced",
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }],
            },
        });
        let known = KnownFacts::new(|| Arc::new(SchemaChecks::default()));
        let kind = &known.of(Definition::new(&definition))[0];
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(Scheme::new()));
        let store = stores.resource(kind);
        for (version, finalizers, is_marked) in [
            ("v1", json!(["a.example/f"]), true),
            ("v0", json!(["a.example/f"]), true),
            ("v0", json!([]), false),
        ] {
            let stored = json!({
                "apiVersion": format!("example.com/{version}"),
                "kind": "Widget",
                "metadata": {"name": "w", "namespace": "a", "resourceVersion": "", "finalizers": finalizers},
            });
            let stored = stored.to_string();
            let version_member = r#""resourceVersion":""#;
            let gap = stored.find(version_member).unwrap() + version_member.len();
            let key = store.key("a", "w").unwrap();
            let op = Op::Put {
                key: key.as_str().into(),
                draft: Draft::new(stored.into_bytes(), gap),
                row: Row::default(),
                expect: Expect::Any,
                ttl: None,
            };
            let entry = store.collection().write(op).await.unwrap().entry;
            let op = removal(&store, kind, &entry, SystemClock.now().into()).unwrap();
            assert_eq!(matches!(op, Op::Put { .. }), is_marked, "{version} {finalizers}");
            if is_marked {
                let entry = store.collection().write(op).await.unwrap().entry;
                assert!(store.decode(&entry).unwrap().meta().deletion_timestamp.is_some());
                assert!(removal(&store, kind, &entry, SystemClock.now().into()).is_none());
            }
        }
    }
}
