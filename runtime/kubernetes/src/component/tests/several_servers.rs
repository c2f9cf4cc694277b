//! Two servers on one store.

use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use planesmith_api_defs::coordination::v1::Lease;
use planesmith_api_defs::core::v1::{Endpoints, RangeAllocation};
use planesmith_api_defs::networking::v1::{IPAddress, ServiceCIDR};
use planesmith_control_plane::SharedStore;
use planesmith_control_plane::options::Options;
use planesmith_control_plane::outbound::Outbound;
use planesmith_machinery::group_version::GroupVersionPriority;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_store::backend::Backend;
use planesmith_store::conformance::{REGISTRY, SeveralWriters};
use planesmith_store::{Storage, StorageOptions};

use super::*;

/// The time in which a server does what it does by itself: several times the duration of a lease.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The store of both servers.
static BACKEND: LazyLock<SeveralWriters> = LazyLock::new(SeveralWriters::default);

/// Opens [`BACKEND`].
#[derive(Debug)]
struct OnBackend;

impl Component for OnBackend {
    fn shared_store<'a>(
        &'a self,
        _: &'a Options,
        settings: &'a StorageOptions,
        _: &'a Outbound,
    ) -> BoxFuture<'a, Result<Option<SharedStore>>> {
        Box::pin(async {
            let backend: Arc<dyn Backend> = Arc::new(BACKEND.clone());
            Ok(Some(SharedStore {
                storage: Storage::connect(Arc::clone(&backend), REGISTRY, settings).await?,
                backend,
                place: "memory of this process".to_owned(),
                media_type: StorageMediaType::Protobuf,
                health_timeout: Duration::from_secs(2),
                ready_timeout: Duration::from_secs(2),
            }))
        })
    }
}

const SERVICES: Program = Program {
    name: "services",
    groups: &[
        GroupVersion {
            group: "",
            version: "v1",
            on_by_default: true,
            priority: GroupVersionPriority::CUSTOM,
            register: |scheme| {
                scheme.add::<ConfigMap>().add::<Event>().add::<Namespace>().add::<Pod>();
                scheme.add::<Secret>().add::<Service>().add::<ServiceAccount>();
                scheme.add::<Endpoints>().add::<RangeAllocation>();
            },
            install: |routes, stores| {
                routes.serve::<ConfigMap>(stores);
                routes.serve::<Event>(stores);
                routes.serve::<Namespace>(stores);
                routes.serve::<Pod>(stores);
                routes.serve::<Secret>(stores);
                routes.serve::<Service>(stores);
                routes.serve::<ServiceAccount>(stores);
                routes.serve::<Endpoints>(stores);
            },
        },
        GroupVersion {
            group: "coordination.k8s.io",
            version: "v1",
            on_by_default: true,
            priority: GroupVersionPriority::CUSTOM,
            register: |scheme| {
                scheme.add::<Lease>();
            },
            install: |routes, stores| {
                routes.serve::<Lease>(stores);
            },
        },
        GroupVersion {
            group: "networking.k8s.io",
            version: "v1",
            on_by_default: true,
            priority: GroupVersionPriority::CUSTOM,
            register: |scheme| {
                scheme.add::<IPAddress>().add::<ServiceCIDR>();
            },
            install: |routes, stores| {
                routes.serve::<IPAddress>(stores);
                routes.serve::<ServiceCIDR>(stores);
            },
        },
    ],
    openapi: Documents { v2: &[], v3: &[] },
    admission: &[],
    components: &[COMPONENT, &OnBackend],
};

impl Running {
    async fn get(&self, path: &str) -> Value {
        let answer = self.connection.call(Method::GET, path, String::new()).await.unwrap();
        answer.json().unwrap_or_default()
    }

    /// Reads `path` until `wanted` is true of it.
    ///
    /// # Panics
    ///
    /// If it is not within [`TIMEOUT`].
    async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let value = self.get(path).await;
            if wanted(&value) {
                return value;
            }
            assert!(begun.elapsed() < TIMEOUT, "{path} stays at {value}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Creates a service with ports of nodes, and returns these and its address.
    async fn expose(&self, name: &str) -> Vec<String> {
        let service = json!({
            "metadata": {"name": name},
            "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81}]},
        });
        let path = "/api/v1/namespaces/default/services";
        let answer = self
            .connection
            .call(Method::POST, path, service.to_string())
            .await
            .unwrap();
        let service: Value = answer.json().unwrap();
        assert_eq!(answer.status, StatusCode::CREATED, "{service}");
        let value = |pointer| service.pointer(pointer).unwrap().to_string();
        ["/spec/clusterIP", "/spec/ports/0/nodePort", "/spec/ports/1/nodePort"]
            .map(value)
            .into()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_on_one_store_share_its_work_and_its_pools() {
    let start = |address: &'static str| async move {
        let flags = [
            &*format!("--advertise-address={address}"),
            "--service-node-port-range=30000-30200",
        ];
        Running::of(&SERVICES, &flags).await
    };
    let leader = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/services-controllers";
    let holder = |lease: &Value| lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned();
    let one = start("192.0.2.1").await;
    // Without another candidate it surely leads.
    let led = one.until(leader, |lease| !holder(lease).is_empty()).await;
    let other = start("192.0.2.2").await;

    let endpoints = "/api/v1/namespaces/default/endpoints/kubernetes";
    let addresses = |value: &Value| value["subsets"][0]["addresses"].as_array().map_or(0, Vec::len);
    other.until(endpoints, |value| addresses(value) == 2).await;

    let (mut given, mut count) = (BTreeSet::new(), 0);
    for number in 0..8 {
        let (name, twin) = (format!("s{number}"), format!("t{number}"));
        let (first, second) = tokio::join!(one.expose(&name), other.expose(&twin));
        count += first.len() + second.len();
        given.extend(first.into_iter().chain(second));
    }
    assert_eq!(given.len(), count, "{given:?}");

    let namespace = json!({"metadata": {"name": "new"}}).to_string();
    one.connection
        .call(Method::POST, "/api/v1/namespaces", namespace)
        .await
        .unwrap();
    let account = "/api/v1/namespaces/new/serviceaccounts/default";
    other
        .until(account, |account| account["metadata"]["uid"].is_string())
        .await;

    one.stop().await;
    other.until(endpoints, |value| addresses(value) == 1).await;
    let follows = |lease: &Value| !holder(lease).is_empty() && holder(lease) != holder(&led);
    other.until(leader, follows).await;
    let removal = other
        .connection
        .call(Method::DELETE, "/api/v1/namespaces/new", String::new());
    assert!(removal.await.unwrap().status.is_success());
    other
        .until("/api/v1/namespaces/new", |namespace| namespace["code"] == 404)
        .await;
    other.stop().await;
}
