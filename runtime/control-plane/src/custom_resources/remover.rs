//! Takes the objects of a definition away that is on its way out.
//!
//! They are removed as they are stored, in whatever version that is: a webhook that does not answer cannot hold them.

use std::sync::Arc;

use futures_util::{StreamExt, stream};
use planesmith_extensions::Definitions;
use planesmith_machinery::custom;
use planesmith_machinery::json;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::time::Time;
use planesmith_server::stores::{ResourceStore, row_of};
use planesmith_store::{Draft, Entry, Expect, Op};
use serde_json::Value;

/// How many objects are removed at once: writes that wait together become durable together.
const AT_ONCE: usize = 256;

/// Removes the objects of a kind; those with finalizers are marked, and go when nothing holds them any more.
pub(super) async fn remove_all(definitions: &Definitions, kind: &'static ResourceFacts) {
    let store = &definitions.stores().resource(kind);
    let remove = |entry: Arc<Entry>| async move {
        let Some(op) = removal(definitions, store, kind, &entry) else {
            return;
        };
        // Who was faster is found the next time.
        if let Err(error) = store.collection().write(op).await {
            tracing::debug!(kind = kind.kind, %error, "an object is not removed yet");
        }
    };
    let entries = stream::iter(definitions.entries(kind));
    entries.for_each_concurrent(AT_ONCE, remove).await;
}

/// What to do about an object; nothing if that was done.
fn removal(
    definitions: &Definitions,
    store: &ResourceStore,
    kind: &'static ResourceFacts,
    entry: &Entry,
) -> Option<Op> {
    let document: Value = serde_json::from_slice(entry.bytes()).ok()?;
    let expect = Expect::Revision(entry.revision());
    let is_held = document
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array)
        .is_some_and(|finalizers| !finalizers.is_empty());
    let api_version = document.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let stored = kind.custom.and_then(|custom| custom.version(api_version));
    let (true, Some(stored)) = (is_held, stored) else {
        return Some(Op::Delete {
            key: entry.key().clone(),
            expect,
            last: None,
        });
    };
    let mut object = custom::read(entry.bytes(), stored).ok()?;
    let meta = object.meta_mut();
    if meta.deletion_timestamp.is_some() {
        return None;
    }
    let millis = definitions.stores().options().clock.now();
    meta.deletion_timestamp = Some(Time::from_second(i64::try_from(millis / 1000).unwrap_or(i64::MAX)));
    meta.deletion_grace_period_seconds = Some(0);
    meta.generation += 1;
    let encoded = json::encode_for_storage(&*object);
    let row = match std::ptr::eq(stored, store.facts()) {
        true => row_of(&*object),
        false => entry.row().clone(),
    };
    Some(Op::Put {
        key: entry.key().clone(),
        draft: Draft::new(encoded.bytes, encoded.gap),
        row,
        expect,
        ttl: None,
    })
}
