//! The range of services' addresses that is created if there is no other.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_api_defs::networking::v1::ServiceCIDR;
use planesmith_control_plane::loopback::{Loopback, LoopbackError, retry_on_conflict};
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::time::Time;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::WatchFrom;
use serde_json::{Value, json};

use crate::options::AddressRange;

const NAME: &str = "kubernetes";
const PATH: &str = "/apis/networking.k8s.io/v1/servicecidrs";

/// The field manager of its status.
const MANAGER: &str = "kubernetes-service-cidr-controller";

/// The time between two checks of the range if nothing changes.
const INTERVAL: Duration = Duration::from_secs(10 * 60);

/// The delay after a failure until the next check; kube-apiserver's value.
const RETRY: Duration = Duration::from_secs(10);

/// The hook; those that need addresses come after it.
pub(super) const HOOK: &str = "start-kubernetes-service-cidr-controller";

/// Creates the range of the server's flags, reports it as ready, and creates it again if it is deleted.
pub(super) fn hook(stores: &Stores, loopback: &Loopback, ranges: &[AddressRange]) -> Hook {
    let range = DefaultRange {
        store: stores.resource(ServiceCIDR::RESOURCE),
        loopback: loopback.clone(),
        cidrs: ranges.iter().map(ToString::to_string).collect(),
    };
    Hook::new(HOOK, move |shutdown| async move {
        // A server starts without its range, too: an administrator needs the server to fix the cause.
        range.attempt().await;
        tokio::spawn(range.keep(shutdown));
        Ok(())
    })
}

struct DefaultRange {
    store: Arc<ResourceStore>,
    loopback: Loopback,
    cidrs: Vec<String>,
}

impl DefaultRange {
    /// Creates missing ranges, if possible now. Returns the time until the next check.
    async fn attempt(&self) -> Duration {
        match retry_on_conflict(|| self.sync()).await {
            // `NotReady`: the server has stopped.
            Ok(()) | Err(LoopbackError::NotReady) => INTERVAL,
            Err(error) => {
                tracing::warn!(%error, "the default range for services cannot be created");
                RETRY
            }
        }
    }

    async fn sync(&self) -> Result<(), LoopbackError> {
        let path = format!("{PATH}/{NAME}");
        let mut range = match self.loopback.send(Method::GET, &path, None).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => {
                let object = json!({
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "ServiceCIDR",
                    "metadata": {"name": NAME},
                    "spec": {"cidrs": self.cidrs},
                });
                self.loopback.send(Method::POST, PATH, Some(&object)).await?
            }
            other => other?,
        };
        if !range["metadata"]["deletionTimestamp"].is_null() {
            return Ok(());
        }
        if range["spec"]["cidrs"].as_array().map(Vec::len) == Some(1) && self.cidrs.len() == 2 {
            // The cluster got a second family; the first range has to be the same.
            if range["spec"]["cidrs"][0] == self.cidrs[0] {
                range["spec"]["cidrs"] = json!(self.cidrs);
                range = self.loopback.send(Method::PUT, &path, Some(&range)).await?;
            }
        }
        self.set_ready(&path, &range).await
    }

    /// Sets the condition Ready of the range, unless another component has.
    async fn set_ready(&self, path: &str, range: &Value) -> Result<(), LoopbackError> {
        if range["spec"]["cidrs"] != json!(self.cidrs) {
            tracing::warn!(
                stored = %range["spec"]["cidrs"],
                flags = ?self.cidrs,
                "the default range for services differs from --service-cluster-ip-range"
            );
            return Ok(());
        }
        let conditions = range["status"]["conditions"].as_array();
        let ready = conditions
            .into_iter()
            .flatten()
            .find(|condition| condition["type"] == "Ready");
        match ready {
            Some(ready) if ready["status"] == "False" => {
                tracing::warn!(
                    condition = %ready,
                    "the default range for services is not ready; services cannot get addresses from it"
                );
                Ok(())
            }
            Some(ready) if ready["status"] == "True" => Ok(()),
            _ => {
                let status = json!({
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "ServiceCIDR",
                    "metadata": {"name": NAME},
                    "status": {"conditions": [{
                        "type": "Ready",
                        "status": "True",
                        "message": "Kubernetes default Service CIDR is ready",
                        "lastTransitionTime": Time::from(self.loopback.clock().now()).to_string(),
                    }]},
                });
                let path = format!("{path}/status");
                self.loopback.apply(&path, MANAGER, &status).await.map(drop)
            }
        }
    }

    async fn keep(self, mut shutdown: Shutdown) {
        let Ok(key) = self.store.key("", NAME) else { return };
        let collection = self.store.collection();
        loop {
            let Ok(mut watcher) = collection.watch(&key, WatchFrom::Now) else {
                return;
            };
            let wait = self.attempt().await;
            tokio::select! {
                () = shutdown.requested() => return,
                _ = watcher.next() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::SystemClock;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_server::shutdown::Stop;
    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;

    #[tokio::test]
    async fn the_server_starts_without_its_range() {
        let mut scheme = Scheme::new();
        scheme.add::<ServiceCIDR>();
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let stores = Stores::new(storage, Arc::new(scheme));
        let (stop, shutdown) = Stop::new();
        // Not connected to a server.
        let hook = hook(&stores, &Loopback::new(Arc::new(SystemClock)), &[]);
        assert!(hook.run(shutdown).await.is_ok());
        stop.now();
    }
}
