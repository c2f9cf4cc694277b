//! The service under which pods reach the server, and the addresses behind it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::{Endpoints, Service};
use planesmith_api_defs::discovery::v1::EndpointSlice;
use planesmith_control_plane::bootstrap::{Announcement, system_namespaces};
use planesmith_control_plane::component::ServerContext;
use planesmith_control_plane::loopback::{Loopback, LoopbackError, retry_on_conflict};
use planesmith_control_plane::reconciler::next_of;
use planesmith_machinery::ip::Family;
use planesmith_machinery::object::Resource as _;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{WatchFrom, Watcher};
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::server_leases::ServerLeases;
use crate::options::{EndpointReconciler, KubernetesOptions};
use crate::service_addresses::repair;

const NAME: &str = "kubernetes";
const NAMESPACE: &str = "default";

/// The time between two checks of the objects if none is deleted.
const INTERVAL: Duration = Duration::from_secs(10);

/// Time between the first two probes of `/readyz` at start; doubled each time, up to [`INTERVAL`].
const FIRST_PROBE_DELAY: Duration = Duration::from_millis(10);

/// Returns the hook that creates and maintains the service, and the one that removes the server's address from it at
/// the end.
pub(super) fn hooks(context: &ServerContext<'_>, flags: &KubernetesOptions) -> Option<(Hook, Hook)> {
    let ServerContext {
        stores,
        loopback,
        announcement,
        ..
    } = *context;
    let services = stores.resource(Service::RESOURCE);
    let range = flags.service_cluster_ip_range.first()?;
    let kept = KubernetesService {
        leases: ServerLeases::new(services.storage()),
        services,
        endpoints: stores.resource(Endpoints::RESOURCE),
        loopback: loopback.clone(),
        service_address: range.first(),
        node_port: flags.kubernetes_service_node_port,
        reconciles: flags.endpoint_reconciler_type != EndpointReconciler::None,
        announcement: announcement.clone(),
        slices: stores
            .scheme()
            .resource("discovery.k8s.io", "v1", &EndpointSlice::RESOURCE.plural)
            .map(|slices| stores.resource(slices)),
        repaired: Arc::default(),
        withdrawn: Arc::default(),
    };
    let last = kept.clone();
    let withdraw = Hook::new("stop-kubernetes-service-controller", move |_| async move {
        last.withdraw().await;
        Ok(())
    });
    let keep = kept.hook().after(system_namespaces::HOOK).after(repair::HOOK);
    Some((keep, withdraw))
}

#[derive(Clone)]
struct KubernetesService {
    services: Arc<ResourceStore>,
    endpoints: Arc<ResourceStore>,
    loopback: Loopback,
    service_address: IpAddr,
    /// The node port of the service; 0 is none.
    node_port: u16,
    announcement: Announcement,
    /// False if the endpoints are left alone.
    reconciles: bool,
    leases: ServerLeases,
    slices: Option<Arc<ResourceStore>>,
    /// Set once the service's type and ports were right; later changes are left alone.
    repaired: Arc<AtomicBool>,
    /// True once the server stops: its address must not return. Locked while a lease is renewed or removed, so that no
    /// renewal that is under way restores a removed lease.
    withdrawn: Arc<Mutex<bool>>,
}

impl KubernetesService {
    /// Creates the service, and maintains it and its endpoints once the server is ready. A server starts without the
    /// service, too: an administrator needs the server to fix the cause.
    fn hook(self) -> Hook {
        Hook::new("bootstrap-controller", move |shutdown| async move {
            if self.reconciles && self.announcement.endpoint.is_none() {
                tracing::info!(
                    "the service kubernetes gets no endpoint of this server: no other machine reaches it; \
                     --advertise-address names an address for it"
                );
            }
            // A server that crashed left its address there.
            self.give_up_endpoint().await;
            self.attempt(self.sync_service()).await;
            tokio::spawn(self.keep(shutdown));
            Ok(())
        })
    }

    /// Logs the reason why the service or its endpoints cannot be created now; the next attempt may succeed.
    async fn attempt(&self, work: impl Future<Output = Result<(), LoopbackError>>) {
        match work.await {
            // The server has stopped.
            Ok(()) | Err(LoopbackError::NotReady) => {}
            Err(error) => tracing::warn!(%error, "the service kubernetes cannot be created"),
        }
    }

    /// Creates the service if it is missing; at first also restores its type and ports.
    async fn sync_service(&self) -> Result<(), LoopbackError> {
        retry_on_conflict(|| self.make_service()).await?;
        self.repaired.store(true, Ordering::Release);
        Ok(())
    }

    async fn make_service(&self) -> Result<(), LoopbackError> {
        let service = self.service();
        let path = format!("/api/v1/namespaces/{NAMESPACE}/services");
        match self.get(&path).await? {
            None => drop(self.loopback.send(Method::POST, &path, Some(&service)).await?),
            Some(mut stored) if !self.repaired.load(Ordering::Acquire) && !is_same_service(&stored, &service) => {
                for field in ["ports", "type"] {
                    stored["spec"][field] = service["spec"][field].clone();
                }
                let path = format!("{path}/{NAME}");
                self.loopback.send(Method::PUT, &path, Some(&stored)).await?;
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Publishes the addresses of this server and of the others on its store.
    async fn sync_endpoints(&self) -> Result<(), LoopbackError> {
        if !self.reconciles {
            return Ok(());
        }
        let withdrawn = self.withdrawn.lock().await;
        match self.announcement.endpoint.filter(|_| !*withdrawn) {
            Some(own) => {
                if let Err(error) = self.leases.renew(own).await {
                    tracing::warn!(%error, "the lease of this server's address cannot be renewed");
                }
                let addresses = self.addresses();
                match addresses.is_empty() {
                    true => Ok(()),
                    false => self.publish(&addresses).await,
                }
            }
            None => self.publish_others().await,
        }
    }

    /// Returns the addresses of this server and of the others on its store.
    fn addresses(&self) -> Vec<IpAddr> {
        let mut addresses = self.leases.addresses();
        // A service has addresses of one family.
        let like = self.announcement.endpoint.or(addresses.first().copied());
        addresses.retain(|address| like.is_some_and(|like| address.is_ipv4() == like.is_ipv4()));
        addresses
    }

    async fn publish(&self, addresses: &[IpAddr]) -> Result<(), LoopbackError> {
        let mut wanted = vec![(self.endpoints_path(), self.endpoints_object(addresses))];
        if self.slices.is_some() {
            wanted.push((self.slices_path(), self.slice(addresses)));
        }
        for (path, object) in wanted {
            let stored = self.get(&path).await?;
            let same = |stored: &Value| {
                ["subsets", "endpoints", "ports", "addressType"]
                    .iter()
                    .all(|field| stored[field] == object[field])
            };
            match stored {
                Some(stored) if same(&stored) => {}
                Some(stored) if stored["addressType"] == object["addressType"] => {
                    let path = format!("{path}/{NAME}");
                    self.loopback.send(Method::PUT, &path, Some(&object)).await?;
                }
                stored => {
                    if stored.is_some() {
                        // The type of a slice cannot change.
                        self.remove(&path).await?;
                    }
                    self.loopback.send(Method::POST, &path, Some(&object)).await?;
                }
            }
        }
        Ok(())
    }

    /// Removes the server's address from the service for good, so that no client is sent to a stopped server.
    async fn withdraw(&self) {
        // A round that waits for others, such as webhooks, does not delay the end for longer; a lease that it still writes expires.
        let mut withdrawn = tokio::time::timeout(INTERVAL, self.withdrawn.lock()).await.ok();
        if let Some(withdrawn) = &mut withdrawn {
            **withdrawn = true;
        }
        self.give_up_endpoint().await;
    }

    /// Removes the server's address from the service, and all addresses whose leases have expired.
    async fn give_up_endpoint(&self) {
        if !self.reconciles {
            return;
        }
        if let Some(own) = self.announcement.endpoint
            && let Err(error) = self.leases.remove_server(own).await
        {
            tracing::warn!(%error, "the lease of this server's address cannot be removed");
        }
        match retry_on_conflict(|| self.publish_others()).await {
            Ok(()) | Err(LoopbackError::NotReady) => {}
            Err(error) => tracing::warn!(%error, "the server's address cannot be taken out of the service kubernetes"),
        }
    }

    /// Publishes the addresses of the other servers only, which may be none.
    async fn publish_others(&self) -> Result<(), LoopbackError> {
        let others = self.addresses();
        if !others.is_empty() {
            return self.publish(&others).await;
        }
        let slices = self.slices.is_some().then(|| self.slices_path());
        for path in std::iter::once(self.endpoints_path()).chain(slices) {
            if self.get(&path).await?.is_some() {
                self.remove(&path).await?;
            }
        }
        Ok(())
    }

    async fn get(&self, path: &str) -> Result<Option<Value>, LoopbackError> {
        match self.loopback.send(Method::GET, &format!("{path}/{NAME}"), None).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn remove(&self, path: &str) -> Result<(), LoopbackError> {
        match self
            .loopback
            .send(Method::DELETE, &format!("{path}/{NAME}"), None)
            .await
        {
            Err(error) if error.status() != Some(StatusCode::NOT_FOUND) => Err(error),
            _ => Ok(()),
        }
    }

    fn endpoints_path(&self) -> String {
        format!("/api/v1/namespaces/{NAMESPACE}/endpoints")
    }

    fn slices_path(&self) -> String {
        format!("/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices")
    }

    fn service(&self) -> Value {
        let mut port = json!({
            "name": "https", "protocol": "TCP", "port": 443, "targetPort": self.announcement.port,
        });
        if self.node_port > 0 {
            port["nodePort"] = self.node_port.into();
        }
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": NAME, "namespace": NAMESPACE,
                "labels": {"component": "apiserver", "provider": "kubernetes"},
            },
            "spec": {
                "ports": [port],
                "clusterIP": self.service_address.to_string(),
                "ipFamilyPolicy": "SingleStack",
                "sessionAffinity": "None",
                "type": if self.node_port > 0 { "NodePort" } else { "ClusterIP" },
            },
        })
    }

    fn endpoints_object(&self, addresses: &[IpAddr]) -> Value {
        let addresses = addresses.iter().map(|address| json!({"ip": address.to_string()}));
        json!({
            "apiVersion": "v1",
            "kind": "Endpoints",
            // Its slice is created here, too.
            "metadata": {
                "name": NAME, "namespace": NAMESPACE,
                "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
            },
            "subsets": [{
                "addresses": addresses.collect::<Vec<_>>(),
                "ports": [{"name": "https", "port": self.announcement.port, "protocol": "TCP"}],
            }],
        })
    }

    fn slice(&self, addresses: &[IpAddr]) -> Value {
        let address_type = addresses.first().map(|address| Family::from_address(*address).name());
        let endpoints = addresses
            .iter()
            .map(|address| json!({"addresses": [address.to_string()], "conditions": {"ready": true}}));
        json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": NAME, "namespace": NAMESPACE,
                "labels": {"kubernetes.io/service-name": NAME},
            },
            "addressType": address_type,
            "endpoints": endpoints.collect::<Vec<_>>(),
            "ports": [{"name": "https", "protocol": "TCP", "port": self.announcement.port}],
        })
    }

    async fn keep(self, mut shutdown: Shutdown) {
        // No client is sent to a server that does not answer yet.
        let mut pause = FIRST_PROBE_DELAY;
        while self.loopback.call(Method::GET, "/readyz", None).await.is_err() {
            tokio::select! {
                () = shutdown.requested() => return,
                () = tokio::time::sleep(pause) => {}
            }
            pause = (pause * 2).min(INTERVAL);
        }
        while let Some(mut watchers) = self.watch() {
            self.attempt(self.sync_service()).await;
            self.attempt(retry_on_conflict(|| self.sync_endpoints())).await;
            tokio::select! {
                () = shutdown.requested() => return,
                _ = next_of(&mut watchers) => {}
                () = tokio::time::sleep(INTERVAL) => {}
            }
        }
    }

    /// Starts to follow the objects that are maintained here.
    fn watch(&self) -> Option<Vec<Watcher>> {
        let kinds = [Some(&self.services), Some(&self.endpoints), self.slices.as_ref()];
        let watch = |store: &Arc<ResourceStore>| {
            let key = store.key(NAMESPACE, NAME).ok()?;
            store.collection().watch(&key, WatchFrom::Now).ok()
        };
        kinds.into_iter().flatten().map(watch).collect()
    }
}

/// True if a stored service has the type and ports of the wanted one.
fn is_same_service(stored: &Value, wanted: &Value) -> bool {
    ["ports", "type"]
        .iter()
        .all(|field| stored["spec"][field] == wanted["spec"][field])
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt as _;
    use planesmith_control_plane::bootstrap::ClusterAuthentication;
    use planesmith_machinery::clock::SystemClock;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::shutdown::Stop;
    use planesmith_server::stores::Stores;
    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;

    const OWN: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

    /// The service of a server that is not connected to itself.
    fn service() -> KubernetesService {
        let mut scheme = Scheme::new();
        scheme.add::<Service>();
        scheme.add::<Endpoints>();
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(scheme));
        let services = stores.resource(Service::RESOURCE);
        KubernetesService {
            leases: ServerLeases::new(services.storage()),
            services,
            endpoints: stores.resource(Endpoints::RESOURCE),
            loopback: Loopback::new(Arc::new(SystemClock)),
            service_address: IpAddr::from([10, 0, 0, 1]),
            node_port: 0,
            reconciles: true,
            announcement: Announcement {
                address: OWN,
                endpoint: Some(OWN),
                port: 6443,
                external_host: String::new(),
                authentication: ClusterAuthentication::default(),
                root_authority: String::new(),
            },
            slices: None,
            repaired: Arc::default(),
            withdrawn: Arc::default(),
        }
    }

    #[tokio::test]
    async fn the_server_starts_without_its_service() {
        let (stop, shutdown) = Stop::new();
        assert!(service().hook().run(shutdown).await.is_ok());
        stop.now();
    }

    #[tokio::test]
    async fn a_renewal_that_is_under_way_does_not_restore_the_lease_of_a_stopped_server() {
        let service = service();
        let round = service.withdrawn.lock().await;
        let mut withdrawal = Box::pin(service.withdraw());
        assert!((&mut withdrawal).now_or_never().is_none());
        service.leases.renew(OWN).await.unwrap();
        assert!((&mut withdrawal).now_or_never().is_none(), "the round is not over");
        drop(round);
        withdrawal.await;
        assert_eq!(service.leases.addresses(), Vec::<IpAddr>::new());
        let _ = service.sync_endpoints().await;
        assert_eq!(
            service.leases.addresses(),
            Vec::<IpAddr>::new(),
            "no later round renews it"
        );
    }
}
