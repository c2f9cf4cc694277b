//! Protects ranges of services' addresses as long as services use them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_api_defs::networking::v1::{IPAddress, ServiceCIDR};
use planesmith_control_plane::conditions::{ConditionState, set_condition};
use planesmith_control_plane::controllers::MANAGER;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_machinery::ip::{IpRange, parse_range};
use planesmith_machinery::object::Resource as _;
use planesmith_machinery::time::Time;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{EventKind, WatchError, WatchFrom, Watcher};
use serde_json::{Value, json};

/// The finalizer of ranges with addresses in use.
const FINALIZER: &str = "networking.k8s.io/service-cidr-finalizer";

const PATH: &str = "/apis/networking.k8s.io/v1/servicecidrs";

/// The manager of conditions.
const STATUS_MANAGER: &str = "service-cidr-controller";

/// Seconds for which a write that allocated an address before the deletion began may still be in progress.
const GRACE: i64 = 10;

/// The time between two checks of ranges that wait for their deletion.
const RETRY: Duration = Duration::from_secs(5);

/// Reports ranges as ready, and releases deleted ones once no address needs them.
pub(super) struct ServiceRangeController {
    ranges: Arc<ResourceStore>,
    addresses: Arc<ResourceStore>,
    loopback: Loopback,
}

impl ServiceRangeController {
    /// `None` for a server without ranges.
    pub(super) fn new(stores: &Stores, loopback: &Loopback) -> Option<Self> {
        let facts = ServiceCIDR::RESOURCE;
        stores.scheme().resource(&facts.group, &facts.version, &facts.plural)?;
        Some(Self {
            ranges: stores.resource(facts),
            addresses: stores.resource(IPAddress::RESOURCE),
            loopback: loopback.clone(),
        })
    }

    /// Runs until the server stops.
    pub(super) async fn run(self, mut shutdown: Shutdown) {
        loop {
            // Before anything is read, so that no change is missed.
            let (Ok(mut changes), Ok(addresses)) = (watch(&self.ranges), watch(&self.addresses)) else {
                return;
            };
            let ranges: Vec<ServiceCIDR> = self.ranges.all();
            let mut waiting = false;
            for range in &ranges {
                waiting |= range.metadata.deletion_timestamp.is_some();
                let Err(error) = self.sync(range, &ranges).await else {
                    continue;
                };
                waiting = true;
                // A conflict with another writer is no failure; the range is checked again.
                if error.status() != Some(StatusCode::CONFLICT) {
                    tracing::warn!(range = range.metadata.name, %error, "a range for services cannot be reconciled");
                }
            }
            let retry = async {
                match waiting {
                    true => tokio::time::sleep(RETRY).await,
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.requested() => return,
                _ = changes.next() => {}
                () = freed(addresses), if waiting => {}
                () = retry => {}
            }
        }
    }

    fn now(&self) -> Time {
        self.loopback.clock().now().into()
    }

    async fn sync(&self, range: &ServiceCIDR, all: &[ServiceCIDR]) -> Result<(), LoopbackError> {
        let held = range.metadata.finalizers.iter().any(|finalizer| finalizer == FINALIZER);
        let Some(deleted) = range.metadata.deletion_timestamp else {
            if !held {
                self.change_finalizers(range, |finalizers| finalizers.push(FINALIZER.into()))
                    .await?;
            }
            let ready = ConditionState::yes("Ready", "Kubernetes Service CIDR is ready");
            return self.write_condition(range, &ready).await;
        };
        if self.is_needed(range, all) {
            let message = "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR";
            return self
                .write_condition(range, &ConditionState::no("Terminating", message))
                .await;
        }
        let seconds = |time: Time| time.timestamp().map_or(0, |time| time.as_second());
        if !held || seconds(self.now()) - seconds(deleted) < GRACE {
            return Ok(());
        }
        self.change_finalizers(range, |finalizers| {
            finalizers.retain(|finalizer| finalizer != FINALIZER)
        })
        .await
    }

    /// True if a service uses an address that is in no other range.
    fn is_needed(&self, range: &ServiceCIDR, all: &[ServiceCIDR]) -> bool {
        let parse = |range: &ServiceCIDR| -> Vec<IpRange> {
            let cidrs = range.spec.cidrs.iter();
            cidrs
                .filter_map(|cidr| parse_range(cidr).map(|(_, range)| range))
                .collect()
        };
        let own = parse(range);
        let others = all
            .iter()
            .filter(|other| other.metadata.name != range.metadata.name && other.metadata.deletion_timestamp.is_none());
        let others: Vec<IpRange> = others.flat_map(parse).collect();
        let holds = |ranges: &[IpRange], address: IpAddr| ranges.iter().any(|range| range.contains(address));
        let addresses: Vec<IPAddress> = self.addresses.all();
        let mut addresses = addresses
            .iter()
            .filter_map(|address| address.metadata.name.parse().ok());
        addresses.any(|address: IpAddr| holds(&own, address) && !holds(&others, address))
    }

    /// Sets the condition Ready, unless it is so already.
    async fn write_condition(&self, range: &ServiceCIDR, state: &ConditionState) -> Result<(), LoopbackError> {
        let mut ready = range
            .status
            .conditions
            .iter()
            .filter(|condition| condition.r#type == "Ready");
        if ready.any(|ready| (ready.status == "True") == state.holds) {
            return Ok(());
        }
        let mut object = json!({
            "apiVersion": ServiceCIDR::RESOURCE.api_version,
            "kind": ServiceCIDR::RESOURCE.kind,
            "metadata": {"name": range.metadata.name, "uid": range.metadata.uid},
            "status": {},
        });
        set_condition(&mut object["status"], "Ready", state, &self.now().to_string());
        let path = format!("{PATH}/{}/status", range.metadata.name);
        match self.loopback.apply(&path, STATUS_MANAGER, &object).await {
            Err(error) if matches!(error.status(), Some(StatusCode::NOT_FOUND | StatusCode::CONFLICT)) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Changes the finalizers of a range.
    async fn change_finalizers(
        &self,
        range: &ServiceCIDR,
        change: impl FnOnce(&mut Vec<Value>),
    ) -> Result<(), LoopbackError> {
        let path = format!("{PATH}/{}", range.metadata.name);
        let mut object = match self.loopback.send(Method::GET, &path, None).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => return Ok(()),
            other => other?,
        };
        let finalizers = &mut object["metadata"]["finalizers"];
        if finalizers.is_null() {
            *finalizers = json!([]);
        }
        if let Value::Array(finalizers) = finalizers {
            change(finalizers);
        }
        let path = format!("{path}?fieldManager={MANAGER}");
        self.loopback.call(Method::PUT, &path, Some(&object)).await
    }
}

fn watch(store: &ResourceStore) -> Result<Watcher, WatchError> {
    let collection = store.collection();
    collection.watch(collection.prefix(), WatchFrom::Now)
}

/// Waits until an address is released, or changes were missed.
async fn freed(mut addresses: Watcher) {
    while let Ok(events) = addresses.next().await
        && events.iter().all(|event| event.kind() != EventKind::Delete)
    {}
}
