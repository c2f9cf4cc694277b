use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_api_defs::core::v1::ConfigMap;
use planesmith_dynamic::custom::CustomKind;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::resource::{ResourceFacts, ResourceTable};
use planesmith_machinery::scheme::Scheme;
use planesmith_server::request::Context;
use planesmith_server::routes::Routes;
use planesmith_store::{MemoryLog, Storage, StorageOptions};

use super::*;

/// A handler that counts how often its facts are read once it serves.
struct Counted {
    store: Arc<ResourceStore>,
    resource: ServedResource,
    reads: Arc<AtomicUsize>,
}

impl ResourceHandler for Counted {
    fn facts(&self) -> &ServedResource {
        self.reads.fetch_add(1, Ordering::Relaxed);
        &self.resource
    }

    fn serve(self: Arc<Self>, _: Context, _: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async { Response::default() })
    }

    fn objects(&self) -> Option<&Arc<ResourceStore>> {
        Some(&self.store)
    }
}

struct Stored {
    storage: Storage,
    reads: Arc<AtomicUsize>,
}

impl Stored {
    fn new() -> Self {
        Self {
            storage: Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap(),
            reads: Arc::default(),
        }
    }

    fn store(&self, facts: &ResourceFacts) -> Arc<ResourceStore> {
        Arc::new(ResourceStore::with_versions(&self.storage, facts, &Scheme::new()))
    }

    /// Returns a handler of `version` of the kind with number `number`, whose storage version is `v1`.
    fn handler(&self, group: &str, number: usize, version: &str) -> Arc<dyn ResourceHandler> {
        let store = self.store(&custom(group, number));
        let resource = ServedResource {
            version: Cow::Owned(version.to_owned()),
            ..ServedKind::from_store(&store).resource
        };
        let reads = Arc::clone(&self.reads);
        Arc::new(Counted { store, resource, reads })
    }
}

/// Returns a kind as for a definition.
fn custom(group: &str, number: usize) -> ResourceFacts {
    let table = ResourceTable {
        group: Cow::Owned(group.to_owned()),
        plural: Cow::Owned(format!("rocks{number}")),
        storage_name: Cow::Owned(format!("rocks{number}")),
        version: Cow::Borrowed("v1"),
        ..CustomKind::FACTS
    };
    ResourceFacts::defined(vec![table], 0).remove(0)
}

fn table(handlers: &[Arc<dyn ResourceHandler>]) -> Arc<RouteTable> {
    let mut routes = Routes::new();
    for handler in handlers {
        routes.add(Arc::clone(handler));
    }
    Arc::new(routes.build())
}

/// Replaces the routes of `group`, as a change of a definition does.
fn swap(shared: &SharedTable, group: &str, handlers: &[Arc<dyn ResourceHandler>]) {
    let table = shared.load().with_group(group, &table(handlers));
    shared.store(Arc::new(table));
}

#[test]
fn a_change_reads_the_changed_kinds_alone() {
    let stored = Stored::new();
    let mut handlers: Vec<_> = (0..200)
        .map(|number| stored.handler("a.example", number, "v1"))
        .collect();
    let shared = SharedTable::new(Routes::new().build());
    swap(&shared, "a.example", &handlers);
    swap(&shared, "b.example", &[stored.handler("b.example", 0, "v1")]);
    let mut served = ServedKinds::from_tables(std::slice::from_ref(&shared));
    let mut kinds = Kinds::default();
    assert_eq!(kinds.update(served.changes()).len(), 201);

    let removed = handlers.pop().unwrap();
    swap(&shared, "a.example", &handlers);
    stored.reads.store(0, Ordering::Relaxed);
    let changed = kinds.update(served.changes());
    assert_eq!(changed.len(), 1);
    assert_eq!(changed[0].resource.plural, removed.facts().plural);
    // That read and the one above.
    assert_eq!(stored.reads.load(Ordering::Relaxed), 2);
    assert!(!kinds.serves(changed[0].prefix()) && kinds.iter().count() == 200);

    assert!(kinds.update(served.changes()).is_empty());
    assert_eq!(stored.reads.load(Ordering::Relaxed), 2);
}

#[test]
fn changes_lead_to_the_same_kinds_as_a_new_snapshot() {
    let stored = Stored::new();
    let shared = SharedTable::new(Routes::new().build());
    let mut served = ServedKinds::from_tables(std::slice::from_ref(&shared));
    let mut kinds = Kinds::default();
    let [old, older] = ["v1beta1", "v1alpha1"].map(|version| stored.handler("a.example", 0, version));
    let hub = stored.handler("a.example", 0, "v1");
    for (handlers, best) in [
        (vec![&older], Some("v1alpha1")),
        (vec![&older, &old], Some("v1alpha1")),
        (vec![&older, &old, &hub], Some("v1")),
        (vec![&old, &hub], Some("v1")),
        (vec![&old], Some("v1beta1")),
        (vec![], None),
    ] {
        let handlers: Vec<_> = handlers.into_iter().map(Arc::clone).collect();
        swap(&shared, "a.example", &handlers);
        kinds.update(served.changes());
        let versions = |kinds: &Kinds| {
            let versions = kinds.iter().map(|kind| kind.resource.version.to_string());
            versions.collect::<Vec<_>>()
        };
        assert_eq!(versions(&kinds), Vec::from_iter(best));
        assert_eq!(versions(&served.now()), versions(&kinds));
    }
    assert!(kinds.by_name.is_empty() && kinds.unserved.is_empty());
}

#[test]
fn removed_kinds_are_remembered_for_a_while() {
    let stored = Stored::new();
    let shared = SharedTable::new(Routes::new().build());
    let configs = stored.store(ConfigMap::RESOURCE);
    let resource = ServedKind::from_store(&configs).resource;
    let reads = Arc::clone(&stored.reads);
    let built_in: Arc<dyn ResourceHandler> = Arc::new(Counted {
        store: configs,
        resource,
        reads,
    });
    swap(&shared, "", &[built_in]);
    let mut served = ServedKinds::from_tables(std::slice::from_ref(&shared));
    let mut known = Kinds::default();
    let mut forgotten = Vec::new();
    for number in 0..MAX_REMOVED + 2 {
        swap(&shared, "a.example", &[stored.handler("a.example", number, "v1")]);
        let (new, now) = known.learn(served.changes());
        assert!(new.iter().any(|kind| kind.resource.plural == format!("rocks{number}")));
        forgotten.extend(now);
    }
    assert_eq!(known.iter().count(), 1 + MAX_REMOVED + 1);
    assert_eq!(forgotten.len(), 1);
    assert!(known.under(&forgotten[0]).is_none() && known.named("v1", "ConfigMap").is_some());
}

#[tokio::test]
async fn a_burst_of_changes_is_reported_once() {
    let stored = Stored::new();
    let shared = SharedTable::new(Routes::new().build());
    let mut served = ServedKinds::from_tables(std::slice::from_ref(&shared));
    let change = |number| swap(&shared, "a.example", &[stored.handler("a.example", number, "v1")]);
    change(0);
    // The wait is dropped once it has seen the change.
    let dropped = tokio::time::timeout(Duration::ZERO, served.changed()).await;
    assert!(dropped.is_err());
    change(1);
    change(2);
    served.changed().await;
    let again = tokio::time::timeout(COLLECTED_FOR, served.changed()).await;
    assert!(again.is_err());
    change(3);
    served.changed().await;
}
