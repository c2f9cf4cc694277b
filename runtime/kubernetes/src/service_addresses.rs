//! Addresses and ports of services: allocated or checked before a service is stored, released if it is not stored.
//!
//! An address is allocated by creating its IPAddress object, so that two servers on one store cannot allocate it
//! twice; node ports are allocated in memory, or in the store if other servers write to it, too. Reading order: `reservation` (the steps around a write), `families`
//! (the number and families of a service's addresses), `addresses`, `node_ports` and `stored_ports` (the
//! allocations), `band` and
//! `pool` (the order in which numbers are tried), `repair` (allocations without a service).

mod addresses;
mod band;
mod families;
mod node_ports;
mod pool;
mod port_rules;
mod readings;
pub(crate) mod repair;
mod report;
mod reservation;
mod stored_ports;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_api_defs::core::v1::{Endpoints, Service};
use planesmith_api_defs::networking::v1::{IPAddress, ServiceCIDR};
use planesmith_control_plane::loopback::Loopback;
use planesmith_machinery::feature::Features;
use planesmith_machinery::object::{Object, Resource as _};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::hooks::Hook;
use planesmith_server::reservations::{Reservation, Reservations};
use planesmith_server::stores::{ResourceStore, Stores};

use crate::options::KubernetesOptions;
use addresses::Addresses;
pub(crate) use addresses::has_labels;
use families::ClusterFamilies;
use node_ports::NodePorts;
use stored_ports::StoredPorts;

/// Allocates addresses and ports for services.
#[derive(Clone, Debug)]
pub(crate) struct ServiceAddresses {
    services: Arc<ResourceStore>,
    endpoints: Option<Arc<ResourceStore>>,
    addresses: Addresses,
    /// The ports, unless other servers write to the store, too.
    ports: NodePorts,
    /// The ports that all servers have allocated.
    stored_ports: Option<StoredPorts>,
    families: ClusterFamilies,
    loopback: Loopback,
    /// The features that the addresses of a service are checked by.
    features: Features,
}

impl ServiceAddresses {
    /// Reads the ports of the stored services; `None` for a server without services or addresses. To be called before
    /// services are installed.
    #[must_use]
    pub(crate) fn install(stores: &Stores, loopback: &Loopback, options: &KubernetesOptions) -> Option<Self> {
        let has = |facts: &ResourceFacts| {
            stores
                .scheme()
                .resource(&facts.group, &facts.version, &facts.plural)
                .is_some()
        };
        if ![Service::RESOURCE, IPAddress::RESOURCE, ServiceCIDR::RESOURCE]
            .into_iter()
            .all(has)
        {
            return None;
        }
        let ranges = options.service_cluster_ip_range.iter();
        let ports = NodePorts::new(options.service_node_port_range);
        let stored_ports = StoredPorts::of(stores, options.service_node_port_range);
        let this = Self {
            services: stores.resource(Service::RESOURCE),
            endpoints: has(Endpoints::RESOURCE).then(|| stores.resource(Endpoints::RESOURCE)),
            addresses: Addresses::new(stores, loopback, &ports, stored_ports.as_ref()),
            ports,
            stored_ports,
            families: ClusterFamilies(ranges.map(|range| range.range().family()).collect()),
            loopback: loopback.clone(),
            features: stores.scheme().features().clone(),
        };
        let services = match this.stored_ports {
            Some(_) => Vec::new(),
            None => this.services.all::<Service>(),
        };
        for service in services {
            for port in port_rules::ports_of(&service) {
                if let Err(error) = this.ports.take(port) {
                    let meta = &service.metadata;
                    tracing::warn!(namespace = meta.namespace, name = meta.name, port, %error, "a stored service has a node port that cannot be reserved");
                }
            }
        }
        stores.reserve(Service::RESOURCE, Arc::new(this.clone()));
        Some(this)
    }

    /// The hook that repairs the allocations of services at start, and then periodically.
    #[must_use]
    pub(crate) fn repair_hook(&self) -> Hook {
        repair::hook(self.clone())
    }

    fn service(object: &mut dyn Object) -> ApiResult<&mut Service> {
        let wrong = || ApiError::internal("a service was expected");
        object.downcast_mut::<Service>().ok_or_else(wrong)
    }
}

impl Reservations for ServiceAddresses {
    fn begin_create<'a>(
        &'a self,
        new: &'a mut dyn Object,
        dry_run: bool,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Reservation>>> {
        Box::pin(async move { self.reserve_new(Self::service(new)?, dry_run).await })
    }

    fn begin_update<'a>(
        &'a self,
        new: &'a mut dyn Object,
        old: &'a dyn Object,
        dry_run: bool,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Reservation>>> {
        Box::pin(async move {
            let old = old.downcast_ref::<Service>().cloned().unwrap_or_default();
            self.reserve_change(Self::service(new)?, old, dry_run).await
        })
    }

    fn after_delete<'a>(&'a self, old: &'a dyn Object) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(service) = old.downcast_ref::<Service>() {
                self.release_all(service).await;
            }
        })
    }
}
