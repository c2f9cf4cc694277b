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

use crate::service_addresses::has_labels;

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
            let ready = ConditionState::yes("", "Kubernetes Service CIDR is ready");
            return self.write_condition(range, &ready).await;
        };
        let addresses: Vec<IPAddress> = self.addresses.all();
        if is_needed(range, all, &addresses) {
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

    /// Sets the condition Ready, unless it is so already.
    async fn write_condition(&self, range: &ServiceCIDR, state: &ConditionState) -> Result<(), LoopbackError> {
        let mut ready = range
            .status
            .conditions
            .iter()
            .filter(|condition| condition.r#type == "Ready");
        if ready.any(|ready| (ready.status == "True") == state.holds && ready.reason == state.reason) {
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

/// True if an allocated address is in no other range, unless all of the range is in others. As for kube-apiserver, others
/// count even if they are being deleted, too.
fn is_needed(range: &ServiceCIDR, all: &[ServiceCIDR], addresses: &[IPAddress]) -> bool {
    let parts: Vec<(&str, IpRange)> = all
        .iter()
        .flat_map(|range| parts_of(range).map(|part| (range.metadata.name.as_str(), part)))
        .collect();
    let is_alone = |holds: &dyn Fn(IpRange) -> bool| {
        let mut holders = parts.iter().filter(|(_, part)| holds(*part)).map(|(name, _)| *name);
        matches!((holders.next(), holders.next()), (Some(only), None) if only == range.metadata.name)
    };
    let is_parent = |part: IpRange, of: IpRange| part.bits() <= of.bits() && part.contains(of.network());
    if parts_of(range).all(|own| !is_alone(&|part| is_parent(part, own))) {
        return false;
    }
    let allocated = addresses.iter().filter(|address| has_labels(address));
    let mut allocated = allocated.filter_map(|address| address.metadata.name.parse().ok());
    allocated.any(|address: IpAddr| is_alone(&|part| is_usable(part, address)))
}

fn parts_of(range: &ServiceCIDR) -> impl Iterator<Item = IpRange> {
    let cidrs = range.spec.cidrs.iter();
    cidrs.filter_map(|cidr| parse_range(cidr).map(|(_, range)| range))
}

/// True if services can have an address of a range: not the first, and of IPv4 not the last either.
fn is_usable(range: IpRange, address: IpAddr) -> bool {
    let is_last = match address {
        IpAddr::V4(address) => {
            let rest = u32::MAX.checked_shr(u32::from(range.bits())).unwrap_or_default();
            address.to_bits() & rest == rest
        }
        IpAddr::V6(_) => false,
    };
    range.contains(address) && range.network() != address && !is_last
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

#[cfg(test)]
mod tests {
    use super::*;

    fn range(name: &str, cidrs: &[&str]) -> ServiceCIDR {
        let mut range = ServiceCIDR::default();
        range.metadata.name = name.to_owned();
        range.spec.cidrs = cidrs.iter().map(|cidr| (*cidr).to_owned()).collect();
        range
    }

    /// The object of an address, with the labels of an allocation if `is_allocated`.
    fn address(name: &str, is_allocated: bool) -> IPAddress {
        let mut address = IPAddress::default();
        address.metadata.name = name.to_owned();
        if is_allocated {
            let family = if name.contains(':') { "IPv6" } else { "IPv4" };
            let labels = [
                ("ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"),
                ("ipaddress.kubernetes.io/ip-family", family),
            ];
            address.metadata.labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        }
        address
    }

    #[test]
    fn a_range_is_needed_for_allocated_addresses_that_no_other_range_has() {
        let own = range("own", &["10.1.0.0/24", "fd00::/112"]);
        let is_needed = |others: &[ServiceCIDR], name: &str| {
            let all = [std::slice::from_ref(&own), others].concat();
            super::is_needed(&own, &all, &[address(name, true)])
        };
        assert!(is_needed(&[], "10.1.0.7"));
        assert!(is_needed(&[], "fd00::ffff"));
        for unusable in ["10.1.0.0", "10.1.0.255", "10.2.0.1", "fd00::"] {
            assert!(!is_needed(&[], unusable), "{unusable}");
        }
        // An equal range holds the addresses, even if it is deleted at the same time.
        assert!(!is_needed(
            &[range("equal", &["10.1.0.0/24", "fd00::/112"])],
            "10.1.0.7"
        ));
        let half = range("half", &["10.1.0.0/25"]);
        assert!(!is_needed(std::slice::from_ref(&half), "10.1.0.7"));
        assert!(is_needed(std::slice::from_ref(&half), "10.1.0.200"));
        // The last address of the half cannot be allocated from it.
        assert!(is_needed(&[half], "10.1.0.127"));
        assert!(!is_needed(
            &[range("large", &["10.0.0.0/8", "fd00::/64"])],
            "10.1.0.255"
        ));
    }

    #[test]
    fn addresses_that_nobody_allocated_do_not_hold_a_range() {
        let own = range("own", &["10.1.0.0/24"]);
        assert!(!is_needed(
            &own,
            std::slice::from_ref(&own),
            &[address("10.1.0.7", false)]
        ));
    }
}
