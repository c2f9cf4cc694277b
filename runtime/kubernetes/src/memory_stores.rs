//! For tests: stores in memory, and objects that are stored before any request.

use std::sync::Arc;

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Resource;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::stores::{Stores, row_of};
use planesmith_store::{Draft, Expect, MemoryLog, Op, Storage, StorageOptions};
use serde_json::Value;

/// Stores of the kinds that `add` names.
pub(crate) fn stores(add: impl FnOnce(&mut Scheme)) -> Stores {
    let mut scheme = Scheme::new();
    add(&mut scheme);
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
    Stores::new(storage, Arc::new(scheme))
}

/// Stores an object under its name and namespace, without checks.
pub(crate) async fn put<R: Resource>(stores: &Stores, object: &Value) {
    let mut typed = R::default();
    json::from_value(object, &mut typed, Strictness::Lenient).unwrap();
    let store = stores.resource(R::RESOURCE);
    let encoded = json::encode_for_storage(&typed);
    let key = store.key(&typed.meta().namespace, &typed.meta().name).unwrap();
    let op = Op::Put {
        key: key.into(),
        draft: Draft::new(encoded.bytes, encoded.gap),
        row: row_of(&typed),
        expect: Expect::Any,
        ttl: None,
    };
    store.collection().write(op).await.unwrap();
}
