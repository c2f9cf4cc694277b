//! Addresses of services, each of which is an IPAddress object while it is allocated.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::Service;
use planesmith_api_defs::networking::v1::{IPAddress, ServiceCIDR};
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_control_plane::resource_client::text;
use planesmith_machinery::ip::{Family, parse_range};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Resource as _;
use planesmith_server::metrics::{AllocationScope, AllocatorMetrics};
use planesmith_server::stores::{ResourceStore, Stores};
use serde_json::{Value, json};
use thiserror::Error;

use super::node_ports::NodePorts;
use super::pool::{self, Pool};
use super::readings::Readings;
use super::stored_ports::StoredPorts;

/// The label with the family of an address.
const FAMILY: &str = "ipaddress.kubernetes.io/ip-family";

/// The label with the manager of an address.
const MANAGED_BY: &str = "ipaddress.kubernetes.io/managed-by";

/// The manager of services' addresses.
const MANAGER: &str = "ipallocator.k8s.io";

const PATH: &str = "/apis/networking.k8s.io/v1/ipaddresses";

/// A reason why an address cannot be allocated, in kube-apiserver's words.
#[derive(Debug, Error)]
pub(super) enum AddressError {
    /// The address is allocated already.
    #[error("provided IP is already allocated")]
    Taken,
    /// No range in use contains the address.
    #[error("the provided network does not match the current range")]
    OtherNetwork,
    /// The address is not in the range that a dry run checks.
    #[error("the provided IP ({0}) is not in the valid range. The range of valid IPs is {1}")]
    OutOfRange(IpAddr, String),
    /// All addresses are allocated.
    #[error("range is full")]
    Full,
    /// The object could not be created.
    #[error(transparent)]
    Request(#[from] LoopbackError),
}

/// Allocates and releases addresses. Allocations are stored, so they survive restarts.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    taken: Arc<ResourceStore>,
    ranges: Arc<ResourceStore>,
    loopback: Loopback,
    metrics: Arc<AllocatorMetrics>,
}

impl Addresses {
    /// Returns the addresses in `stores`, whose metrics also show the `ports`.
    pub(super) fn new(
        stores: &Stores,
        loopback: &Loopback,
        ports: &NodePorts,
        stored_ports: Option<&StoredPorts>,
    ) -> Self {
        let (taken, ranges) = (
            stores.resource(IPAddress::RESOURCE),
            stores.resource(ServiceCIDR::RESOURCE),
        );
        let readings = Readings {
            taken: Arc::downgrade(&taken),
            ranges: Arc::downgrade(&ranges),
            ports: ports.clone(),
            stored_ports: stored_ports.map(|stored| Arc::downgrade(stored.ranges())),
        };
        Self {
            taken,
            ranges,
            loopback: loopback.clone(),
            metrics: AllocatorMetrics::register(&stores.options().metrics, Box::new(readings)),
        }
    }

    /// Counts allocations.
    pub(super) fn metrics(&self) -> &AllocatorMetrics {
        &self.metrics
    }

    /// Returns the pools of a family that are in use: those whose ranges are ready and not being deleted.
    pub(super) fn pools(&self, family: Family) -> Vec<Pool> {
        let mut pools = pools_of(&self.ranges);
        pools.retain(|pool| pool.range().family() == family);
        pools
    }

    /// The objects of allocated addresses.
    pub(super) fn taken(&self) -> &ResourceStore {
        &self.taken
    }

    /// True if any range for services contains `address`, in use or not.
    pub(super) fn knows(&self, address: IpAddr) -> bool {
        let ranges = self.ranges.all::<ServiceCIDR>();
        let cidrs = ranges.iter().flat_map(|range| &range.spec.cidrs);
        let mut pools = cidrs.filter_map(|cidr| Pool::new(parse_range(cidr)?.1));
        pools.any(|pool| pool.contains(address))
    }

    /// Returns the object of an allocated address.
    pub(super) fn owner(&self, address: IpAddr) -> Option<IPAddress> {
        let key = self.taken.key("", &address.to_string()).ok()?;
        let entry = self.taken.collection().get(&key)?;
        self.taken.typed(&entry)
    }

    /// Returns the addresses with the label of this manager.
    pub(super) fn managed(&self) -> Vec<IPAddress> {
        let mut addresses = self.taken.all::<IPAddress>();
        addresses.retain(|address| {
            address
                .metadata
                .labels
                .get(MANAGED_BY)
                .is_some_and(|who| who == MANAGER)
        });
        addresses
    }

    /// Allocates `address` for a service.
    pub(super) async fn take(
        &self,
        address: IpAddr,
        service: &Service,
        dry_run: bool,
    ) -> Result<AllocatedAddress, AddressError> {
        let pools = self.pools(Family::from_address(address));
        if dry_run {
            // As in kube-apiserver, a dry run does not check that it is free.
            return match pools.first() {
                Some(pool) if !pool.contains(address) => {
                    Err(AddressError::OutOfRange(address, pool.range().to_string()))
                }
                _ => Ok(AllocatedAddress::invented(address)),
            };
        }
        let begin = Instant::now();
        let Some(pool) = pools.iter().find(|pool| pool.contains(address)) else {
            return Err(AddressError::OtherNetwork);
        };
        let taken = self.create(address, service).await;
        let (cidr, is_allocated) = (pool.range().to_string(), taken.is_ok());
        self.metrics
            .address(&cidr, AllocationScope::Static, begin.elapsed(), is_allocated);
        taken
    }

    /// Allocates any address of a family for a service; a dry run invents it. No range in use is preferred.
    pub(super) async fn take_any(
        &self,
        family: Family,
        service: &Service,
        dry_run: bool,
    ) -> Result<AllocatedAddress, AddressError> {
        let pools = pool::in_random_order(self.pools(family));
        if dry_run {
            let invented = pools
                .first()
                .map(|pool| AllocatedAddress::invented(pool.range().network()));
            return invented.ok_or(AddressError::Full);
        }
        for pool in &pools {
            let begin = Instant::now();
            let taken = self.take_any_of(pool, service).await;
            let (cidr, is_allocated) = (pool.range().to_string(), taken.is_ok());
            self.metrics
                .address(&cidr, AllocationScope::Dynamic, begin.elapsed(), is_allocated);
            match taken {
                Err(AddressError::Full) => {}
                taken => return taken,
            }
        }
        Err(AddressError::Full)
    }

    async fn take_any_of(&self, pool: &Pool, service: &Service) -> Result<AllocatedAddress, AddressError> {
        for address in pool.candidates() {
            let key = self.taken.key("", &address.to_string());
            if key.is_ok_and(|key| self.taken.collection().get(&key).is_some()) {
                continue;
            }
            match self.create(address, service).await {
                Ok(taken) => return Ok(taken),
                // Another request was faster.
                Err(AddressError::Taken) => {}
                Err(error) => return Err(error),
            }
        }
        Err(AddressError::Full)
    }

    /// Creates the object of an address.
    pub(super) async fn create(&self, address: IpAddr, service: &Service) -> Result<AllocatedAddress, AddressError> {
        let object = object(address, service);
        match self.loopback.send(Method::POST, PATH, Some(&object)).await {
            Ok(created) => Ok(AllocatedAddress {
                address,
                uid: text(&created, "/metadata/uid").to_owned(),
            }),
            Err(error) if error.status() == Some(StatusCode::CONFLICT) => Err(AddressError::Taken),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases the address whose object has this name and UID: the address may belong to another service by now. The
    /// repair finds what fails here.
    pub(super) async fn release(&self, address: &str, uid: &str) {
        let path = format!("{PATH}/{address}");
        let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}});
        match self.loopback.call(Method::DELETE, &path, Some(&options)).await {
            Err(error) if !matches!(error.status(), Some(StatusCode::NOT_FOUND | StatusCode::CONFLICT)) => {
                tracing::warn!(address, %error, "an address of a service cannot be released");
            }
            _ => {}
        }
    }

    /// Releases an address that a service had, unless another service has it now.
    pub(super) async fn release_of(&self, address: IpAddr, service: &ObjectMeta) {
        let Some(object) = self.owner(address) else { return };
        let owner = &object.spec.parent_ref;
        if owner
            .as_ref()
            .is_some_and(|owner| owner.namespace == service.namespace && owner.name == service.name)
        {
            self.release(&object.metadata.name, &object.metadata.uid).await;
        }
    }
}

/// An allocated address.
#[derive(Clone, Debug)]
pub(super) struct AllocatedAddress {
    pub(super) address: IpAddr,
    /// The UID of its object; empty if it was allocated in a dry run.
    pub(super) uid: String,
}

impl AllocatedAddress {
    fn invented(address: IpAddr) -> Self {
        Self {
            address,
            uid: String::new(),
        }
    }
}

/// True if the object of an address still has the labels that it was created with.
pub(crate) fn has_labels(address: &IPAddress) -> bool {
    let family = address
        .metadata
        .name
        .parse()
        .map(|address: IpAddr| Family::from_address(address).name());
    let label = |key: &str| address.metadata.labels.get(key).map(String::as_str);
    label(MANAGED_BY) == Some(MANAGER) && family.is_ok_and(|family| label(FAMILY) == Some(family))
}

fn object(address: IpAddr, service: &Service) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": address.to_string(),
            "labels": {FAMILY: Family::from_address(address).name(), MANAGED_BY: MANAGER},
        },
        "spec": {"parentRef": {
            "resource": "services",
            "namespace": service.metadata.namespace,
            "name": service.metadata.name,
        }},
    })
}

/// Returns the pools of all families that are in use: those whose `ranges` are ready and not being deleted.
pub(super) fn pools_of(ranges: &ResourceStore) -> Vec<Pool> {
    let ranges = ranges.all::<ServiceCIDR>();
    let ready = ranges.iter().filter(|range| is_ready(range));
    let cidrs = ready.flat_map(|range| &range.spec.cidrs);
    cidrs.filter_map(|cidr| Pool::new(parse_range(cidr)?.1)).collect()
}

/// True if a range is ready. One without a condition counts as ready, since there may be no controller to set it.
fn is_ready(range: &ServiceCIDR) -> bool {
    let condition = range
        .status
        .conditions
        .iter()
        .find(|condition| condition.r#type == "Ready");
    range.metadata.deletion_timestamp.is_none() && condition.is_none_or(|condition| condition.status == "True")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planesmith_machinery::clock::SystemClock;

    use super::*;
    use crate::memory_stores::{put, stores};
    use crate::options::PortRange;

    #[tokio::test]
    async fn addresses_come_from_every_range_in_use() {
        let stores = stores(|scheme| {
            scheme.add::<IPAddress>().add::<ServiceCIDR>();
        });
        for (name, cidr, status) in [
            ("large", "10.0.0.0/16", "True"),
            ("small", "10.77.0.0/28", "True"),
            ("unused", "10.99.0.0/16", "False"),
        ] {
            let range = json!({"metadata": {"name": name}, "spec": {"cidrs": [cidr]},
                               "status": {"conditions": [{"type": "Ready", "status": status}]}});
            put::<ServiceCIDR>(&stores, &range).await;
        }
        let ports = NodePorts::new(PortRange::new(30_000, 30_001).unwrap());
        let loopback = Loopback::new(Arc::new(SystemClock));
        let addresses = Addresses::new(&stores, &loopback, &ports, None);
        let mut used = BTreeSet::new();
        for _ in 0..200 {
            let taken = addresses.take_any(Family::V4, &Service::default(), true).await.unwrap();
            used.insert(taken.address);
        }
        assert_eq!(
            used,
            ["10.0.0.0", "10.77.0.0"].map(|address| address.parse().unwrap()).into()
        );
    }
}
