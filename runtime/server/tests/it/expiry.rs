//! Objects that expire.

use std::time::Duration;

use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_store::{MemoryLog, Storage, StorageOptions};

use crate::harness::{NOTES, Server};
use crate::kinds::Note;

/// Starts a server whose notes expire after `ttl`, and creates one. True if it is going to expire.
async fn expires(ttl: Option<Duration>) -> bool {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
    let mut scheme = Scheme::new();
    scheme.add::<Note>();
    if let Some(ttl) = ttl {
        scheme.set_ttl(Note::RESOURCE, ttl);
    }
    let server = Server::of_scheme(storage, scheme);
    server.create(NOTES, r#"{"metadata":{"name":"one"}}"#).await;
    let store = server.stores.resource(Note::RESOURCE);
    let key = store.key("a", "one").expect("a key");
    let entry = store.collection().get(&key).expect("an entry");
    entry.expires().is_some()
}

#[tokio::test]
async fn each_server_of_a_process_has_its_own_times_to_live() {
    let hour = Some(Duration::from_secs(3600));
    let outcomes = tokio::join!(expires(hour), expires(None), expires(hour));
    assert_eq!(outcomes, (true, false, true));
}
