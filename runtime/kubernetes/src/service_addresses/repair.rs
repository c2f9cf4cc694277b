//! Repairs allocations: addresses whose object was lost or belongs to another service, objects whose service is
//! deleted, ports without a service.
//!
//! Everything is checked when the server starts and every three minutes; in between, each change of a service or an
//! address is checked by itself.

mod port_repair;

use std::net::IpAddr;
use std::time::Duration;

use planesmith_api_defs::core::v1::Service;
use planesmith_api_defs::networking::v1::IPAddress;
use planesmith_machinery::ip::{self, Family};
use planesmith_machinery::object::Resource;
use planesmith_machinery::time::Time;
use planesmith_server::hooks::Hook;
use planesmith_server::shutdown::Shutdown;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Event, WatchError, WatchFrom, Watcher};

use super::ServiceAddresses;
use super::addresses::{AddressError, has_labels};
use super::report::{About, Finding, warn};
use port_repair::PortRepair;

/// The time between two repairs.
const INTERVAL: Duration = Duration::from_secs(3 * 60);

/// Seconds for which a service may still be about to be stored after its address was allocated: the longest duration
/// of a request.
const GRACE: i64 = 60;

const CONTROLLER: &str = "ipallocator-repair-controller";

const ALLOCATION: &str = "ClusterIPAllocation";

const NOT_ALLOCATED: Finding = Finding {
    reason: "ClusterIPNotAllocated",
    action: ALLOCATION,
};

/// The name of the hook.
pub(crate) const HOOK: &str = "start-service-ip-repair-controllers";

/// The hook that checks everything once, and then goes on in the background.
pub(super) fn hook(addresses: ServiceAddresses) -> Hook {
    Hook::new(HOOK, move |shutdown| async move {
        let mut ports = PortRepair::default();
        // Watched from before the first check, so that no change is missed.
        let watchers = watch(addresses.services()).zip(watch(addresses.taken()));
        addresses.repair_all().await;
        ports.run(&addresses).await;
        if let Some(watchers) = watchers {
            tokio::spawn(keep(addresses, ports, watchers, shutdown));
        }
        Ok(())
    })
}

/// Follows a kind from now on; `None` when the store is closed.
fn watch(store: &ResourceStore) -> Option<Watcher> {
    let collection = store.collection();
    collection.watch(collection.prefix(), WatchFrom::Now).ok()
}

async fn keep(
    addresses: ServiceAddresses,
    mut ports: PortRepair,
    (mut services, mut taken): (Watcher, Watcher),
    mut shutdown: Shutdown,
) {
    let mut ticks = tokio::time::interval(INTERVAL);
    // The first tick comes at once.
    ticks.tick().await;
    loop {
        let lost = tokio::select! {
            () = shutdown.requested() => return,
            _ = ticks.tick() => {
                ports.run(&addresses).await;
                true
            }
            changes = services.next() => match changes {
                Ok(changes) => {
                    for service in read_events::<Service>(addresses.services(), &changes) {
                        addresses.repair_service(&service.metadata.namespace, &service.metadata.name).await;
                    }
                    false
                }
                Err(WatchError::Closed) => return,
                Err(WatchError::Compacted { .. }) => true,
            },
            changes = taken.next() => match changes {
                Ok(changes) => {
                    for address in read_events::<IPAddress>(addresses.taken(), &changes) {
                        addresses.repair_address_and_owner(&address).await;
                    }
                    false
                }
                Err(WatchError::Closed) => return,
                Err(WatchError::Compacted { .. }) => true,
            },
        };
        if lost {
            let (Some(fresh_services), Some(fresh_taken)) = (watch(addresses.services()), watch(addresses.taken()))
            else {
                return;
            };
            (services, taken) = (fresh_services, fresh_taken);
            addresses.repair_all().await;
        }
    }
}

fn read_events<R: Resource>(store: &ResourceStore, events: &[std::sync::Arc<Event>]) -> Vec<R> {
    events.iter().filter_map(|event| store.typed(event.entry())).collect()
}

impl ServiceAddresses {
    pub(super) fn services(&self) -> &ResourceStore {
        &self.services
    }

    fn taken(&self) -> &ResourceStore {
        self.addresses.taken()
    }

    async fn repair_all(&self) {
        for service in self.services.all::<Service>() {
            self.repair_addresses(&service).await;
        }
        for address in self.addresses.managed() {
            self.repair_object(&address).await;
        }
    }

    /// Returns the stored service of that name.
    fn stored(&self, namespace: &str, name: &str) -> Option<Service> {
        let key = self.services.key(namespace, name).ok()?;
        self.services.typed(&*self.services.collection().get(&key)?)
    }

    async fn repair_service(&self, namespace: &str, name: &str) {
        if let Some(service) = self.stored(namespace, name) {
            self.repair_addresses(&service).await;
        }
    }

    /// Checks an address that changed or was deleted, and the service that it refers to.
    async fn repair_address_and_owner(&self, changed: &IPAddress) {
        if let Some(parent) = &changed.spec.parent_ref {
            self.repair_service(&parent.namespace, &parent.name).await;
        }
        let current = changed
            .metadata
            .name
            .parse()
            .ok()
            .and_then(|address| self.addresses.owner(address));
        if let Some(current) = current.filter(has_labels) {
            self.repair_object(&current).await;
        }
    }

    async fn repair_addresses(&self, service: &Service) {
        if service.is_external_name() || service.is_headless() {
            return;
        }
        for text in &service.spec.cluster_ips {
            let Some(address) = ip::parse(text) else {
                let finding = Finding {
                    reason: "ClusterIPNotValid",
                    action: "ClusterIPValidation",
                };
                let message = format!("Cluster IP {text} is not a valid IP; please recreate Service");
                self.warn_service(service, finding, &message).await;
                continue;
            };
            self.repair_address(service, address).await;
        }
    }

    async fn repair_address(&self, service: &Service, address: IpAddr) {
        let family = Family::from_address(address).name();
        if !self.addresses.knows(address) {
            let finding = Finding {
                reason: "ClusterIPOutOfRange",
                action: ALLOCATION,
            };
            let message = format!(
                "Cluster IP [{family}]: {address} is not within any configured Service CIDR; please recreate service"
            );
            return self.warn_service(service, finding, &message).await;
        }
        let meta = &service.metadata;
        let Some(object) = self.addresses.owner(address) else {
            let message = format!("Cluster IP [{family}]: {address} is not allocated; repairing");
            self.warn_service(service, NOT_ALLOCATED, &message).await;
            return self.make_again(service, address).await;
        };
        let parent = object.spec.parent_ref.clone().unwrap_or_default();
        let is_service = parent.group.is_empty() && parent.resource == "services";
        if !is_service || parent.namespace != meta.namespace || parent.name != meta.name {
            let other = is_service
                .then(|| self.stored(&parent.namespace, &parent.name))
                .flatten();
            let Some(other) = other else {
                let message = format!(
                    "the ClusterIP [{family}]: {address} for Service {}/{} has a wrong reference; repairing",
                    meta.namespace, meta.name
                );
                self.warn_service(service, NOT_ALLOCATED, &message).await;
                self.addresses
                    .release(&object.metadata.name, &object.metadata.uid)
                    .await;
                return self.make_again(service, address).await;
            };
            if other.spec.cluster_ips.contains(&object.metadata.name) {
                let finding = Finding {
                    reason: "ClusterIPAlreadyAllocated",
                    action: ALLOCATION,
                };
                let message = format!(
                    "Cluster IP [{family}]:{address} was assigned to multiple services; please recreate service"
                );
                return self.warn_service(service, finding, &message).await;
            }
        }
        if !has_labels(&object) {
            self.addresses
                .release(&object.metadata.name, &object.metadata.uid)
                .await;
            self.make_again(service, address).await;
        }
    }

    async fn make_again(&self, service: &Service, address: IpAddr) {
        match self.addresses.create(address, service).await {
            // Another request was faster; its change is checked by itself.
            Ok(_) | Err(AddressError::Taken) => {}
            Err(error) => tracing::warn!(%address, %error, "an address of a service cannot be allocated again"),
        }
    }

    /// Deletes the object of an address that no service has.
    async fn repair_object(&self, object: &IPAddress) {
        let name = &object.metadata.name;
        let parent = object.spec.parent_ref.clone().unwrap_or_default();
        let (finding, message) = if !parent.group.is_empty() || parent.resource != "services" {
            let message = format!(
                "IPAddress {name} appears to have been modified, not referencing a Service &ParentReference{{Group:{},\
                 Resource:{},Namespace:{},Name:{},}}: cleaning up",
                parent.group, parent.resource, parent.namespace, parent.name
            );
            ("IPAddressNotAllocated", message)
        } else {
            let whose = format!("IPAddress: {name} for Service {}/{}", parent.namespace, parent.name);
            let reason = match self.stored(&parent.namespace, &parent.name) {
                Some(service) if service.spec.cluster_ips.contains(name) => return,
                // The service may be about to be stored.
                _ if is_young(object, self.loopback.clock().now().into()) => return,
                Some(_) => ("IPAddressWrongReference", "has a wrong reference; cleaning up"),
                None => ("IPAddressNotAllocated", "appears to have leaked: cleaning up"),
            };
            (reason.0, format!("{whose} {}", reason.1))
        };
        let finding = Finding {
            reason: finding,
            action: "IPAddressAllocation",
        };
        let about = About {
            api_version: "networking.k8s.io/v1",
            kind: "IPAddress",
            meta: &object.metadata,
        };
        warn(&self.loopback, CONTROLLER, about, finding, &message).await;
        self.addresses.release(name, &object.metadata.uid).await;
    }

    async fn warn_service(&self, service: &Service, finding: Finding, message: &str) {
        warn(&self.loopback, CONTROLLER, about_service(service), finding, message).await;
    }
}

pub(super) fn about_service(service: &Service) -> About<'_> {
    About {
        api_version: "v1",
        kind: "Service",
        meta: &service.metadata,
    }
}

/// True if an object is so new that the write of its service may still be in progress.
fn is_young(object: &IPAddress, now: Time) -> bool {
    let seconds = |time: Time| time.timestamp().map_or(0, |time| time.as_second());
    seconds(now) - seconds(object.metadata.creation_timestamp) <= GRACE
}
