use std::future::pending;

use futures_util::FutureExt as _;
use planesmith_control_plane::loopback::Loopback;
use planesmith_control_plane::service_resolver::{Resolver, Unreachable};
use planesmith_machinery::Resource;
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::json as object_json;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::scheme::Scheme;
use planesmith_server::chain::ApiServer;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_server::routes::Routes;
use planesmith_server::shutdown::Stop;
use planesmith_server::stores::{Stores, row_of};
use planesmith_store::{Draft, Expect, MemoryLog, Op, Storage, StorageOptions};
use tokio::sync::mpsc;

use super::*;
use crate::config::AggregatorConfig;
use planesmith_server::discovery::ListedGroup;

/// Stands for services.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Service")]
struct Service {
    metadata: ObjectMeta,
}

/// Stands for the slices of a service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "test.example.com", version = "v1", kind = "Slice")]
struct Slice {
    metadata: ObjectMeta,
}

/// Finds no server, and reports each check.
struct NoServer(mpsc::UnboundedSender<()>);

impl Resolver for NoServer {
    fn resolve(&self, _: &ServicePort) -> Result<Destination, String> {
        Err("nowhere".to_owned())
    }
}

impl ServiceResolver for NoServer {
    fn check(&self, service: &ServicePort) -> Result<(), Unreachable> {
        // The test may have ended.
        let _ = self.0.send(());
        Err(Unreachable::not_found(service))
    }
}

struct Fixture {
    stores: Stores,
    follower: Follower,
    checks: mpsc::UnboundedReceiver<()>,
    _stop: Stop,
}

fn service() -> ServicePort {
    ServicePort {
        namespace: "shop".to_owned(),
        name: "orders".to_owned(),
        port: 443,
    }
}

impl Fixture {
    fn new() -> Self {
        let mut scheme = Scheme::new();
        scheme.add::<APIService>().add::<Service>().add::<Slice>();
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(scheme));
        let loopback = Loopback::new(Arc::new(SystemClock));
        let of = |group, plural| ResourceClient::of(&stores, &loopback, group, "v1", plural).unwrap();
        let (sender, checks) = mpsc::unbounded_channel();
        let services = Arc::new(NoServer(sender));
        let own = ListedGroup {
            name: "apiregistration.k8s.io".to_owned(),
            versions: vec!["v1".to_owned()],
        };
        let config = AggregatorConfig {
            directory: GroupDirectory::default(),
            openapi: OpenApi::default(),
            resolver: Arc::clone(&services) as Arc<_>,
            dialer: Dialer::default(),
            identity: None,
            rejects_redirects: false,
        };
        let (stop, shutdown) = Stop::new();
        let follower = Follower {
            api_services: of("apiregistration.k8s.io", "apiservices"),
            store: stores.resource(APIService::RESOURCE),
            service_sources: vec![
                (of("test.example.com", "services"), NamesService::Itself),
                (of("test.example.com", "slices"), NamesService::InLabel),
            ],
            aggregator: Aggregator::new(&mut ApiServer::new("aggregator", Routes::new()), own, config),
            services,
            metrics: SharedMetrics::default(),
            shutdown,
            probes: Mutex::default(),
        };
        Self {
            stores,
            follower,
            checks,
            _stop: stop,
        }
    }

    fn backend(&self) -> Arc<Backend> {
        let mut api_service = APIService::default();
        "v1.shop.example.com".clone_into(&mut api_service.metadata.name);
        let mut registration = registration(&api_service);
        registration.remote = Some(Remote {
            service: service(),
            trust: RemoteTrust::Anyone,
            is_available: false,
        });
        self.follower.aggregator.set(registration).unwrap()
    }

    /// Adds a probe that does nothing but to be notified.
    fn add_probe(&self, name: &str) {
        let probe = AvailabilityProbe {
            service: service(),
            backend: self.backend(),
            nudge: Arc::default(),
            task: tokio::spawn(pending::<()>()).abort_handle(),
        };
        self.follower.probes().insert(name.to_owned(), probe);
    }

    /// Stores an object, and reports if its change notified the probe of `name`.
    async fn notifies<R: planesmith_machinery::object::Resource>(&self, kind: usize, object: R, name: &str) -> bool {
        let store = self.stores.resource(R::RESOURCE);
        let mut watcher = store.watch();
        let encoded = object_json::encode_for_storage(&object);
        let op = Op::Put {
            key: store.key(&object.meta().namespace, &object.meta().name).unwrap().into(),
            draft: Draft::new(encoded.bytes, encoded.gap),
            row: row_of(&object),
            expect: Expect::Any,
            ttl: None,
        };
        store.collection().write(op).await.unwrap();
        for event in watcher.next().await.unwrap() {
            self.follower.touched_by(kind, &event);
        }
        let nudge = Arc::clone(&self.follower.probes()[name].nudge);
        nudge.notified().now_or_never().is_some()
    }
}

fn meta(namespace: &str, name: &str, service: &str) -> ObjectMeta {
    ObjectMeta {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        labels: [(SERVICE_NAME.to_owned(), service.to_owned())].into(),
        ..ObjectMeta::default()
    }
}

#[tokio::test]
async fn changes_of_the_objects_behind_an_api_service_notify_its_probe() {
    let fixture = Fixture::new();
    let name = "v1.shop.example.com";
    fixture.add_probe(name);
    let service = |namespace, name| Service {
        metadata: meta(namespace, name, "orders"),
    };
    assert!(fixture.notifies(1, service("shop", "orders"), name).await);
    assert!(!fixture.notifies(1, service("other", "orders"), name).await);
    assert!(!fixture.notifies(1, service("shop", "other"), name).await);
    let slice = |namespace, service| Slice {
        metadata: meta(namespace, "slice", service),
    };
    assert!(fixture.notifies(2, slice("shop", "orders"), name).await);
    assert!(
        fixture.notifies(2, slice("shop", "other"), name).await,
        "the former service"
    );
    assert!(!fixture.notifies(2, slice("shop", "another"), name).await);
    let mut api_service = APIService::default();
    name.clone_into(&mut api_service.metadata.name);
    assert!(fixture.notifies(0, api_service.clone(), name).await);
    api_service.status.conditions.push(Default::default());
    assert!(!fixture.notifies(0, api_service, name).await, "the result of a probe");
}

#[tokio::test]
async fn a_notified_probe_does_not_wait_for_the_next_interval() {
    let mut fixture = Fixture::new();
    let name = "v1.shop.example.com";
    fixture.follower.start_probe(name, service(), fixture.backend());
    let limit = PROBE_INTERVAL / 2;
    let checked = tokio::time::timeout(limit, fixture.checks.recv()).await;
    assert_eq!(checked, Ok(Some(())));
    fixture.follower.probe_now("shop", "orders");
    let checked = tokio::time::timeout(limit, fixture.checks.recv()).await;
    assert_eq!(checked, Ok(Some(())));
}

#[test]
fn changes_of_all_but_the_status_request_a_probe() {
    let changed = |change: fn(&mut APIService)| {
        let before = APIService::default();
        let mut now = before.clone();
        "2".clone_into(&mut now.metadata.resource_version);
        change(&mut now);
        requests_probe(Some(before), Some(now))
    };
    assert!(changed(|now| drop(
        now.metadata.labels.insert("a".to_owned(), "b".to_owned())
    )));
    assert!(changed(|now| now.spec.insecure_skip_tls_verify = true));
    assert!(!changed(|now| now.status.conditions.push(Default::default())));
}
