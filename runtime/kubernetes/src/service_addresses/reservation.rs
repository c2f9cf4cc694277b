//! Allocates and releases addresses and ports around a write of a service.

use std::collections::BTreeSet;
use std::net::IpAddr;

use futures_util::future::BoxFuture;
use http::{Method, StatusCode};
use planesmith_api_defs::core::v1::Service;
use planesmith_control_plane::loopback::LoopbackError;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::ip::{self, Family};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::reservations::Reservation;

use super::addresses::{AddressError, Addresses, AllocatedAddress};
use super::node_ports::{NodePorts, PortChange};
use super::stored_ports::StoredPorts;
use super::{ServiceAddresses, families, port_rules};

/// The addresses allocated for one write of a service.
struct ServiceReservation {
    addresses: Addresses,
    taken: Vec<AllocatedAddress>,
    /// Released once the write is stored.
    given_up: Vec<IpAddr>,
    /// The metadata of the service.
    service: ObjectMeta,
    ports: PortChange,
    stored_ports: Option<StoredPorts>,
    dry_run: bool,
}

impl Reservation for ServiceReservation {
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let this = *self;
            let released = this.ports.commit();
            if let Some(stored) = &this.stored_ports {
                stored.release(&released).await;
            }
            if !this.dry_run {
                for address in this.given_up {
                    this.addresses.release_of(address, &this.service).await;
                }
            }
        })
    }

    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let this = *self;
            let taken = this.ports.roll_back();
            if let Some(stored) = &this.stored_ports {
                stored.release(&taken).await;
            }
            if !this.dry_run {
                for taken in this.taken {
                    this.addresses.release(&taken.address.to_string(), &taken.uid).await;
                }
            }
        })
    }
}

impl ServiceAddresses {
    pub(super) async fn reserve_new(&self, service: &mut Service, dry_run: bool) -> ApiResult<Box<dyn Reservation>> {
        service.unite_new_addresses();
        let families = families::settle(service, None, &self.families, &self.features);
        families.map_err(|errors| invalid(service, &errors))?;
        let mut reservation = self.start(&service.metadata, dry_run);
        let taken = self.take_all_addresses(service, &mut reservation).await;
        let taken = match taken {
            Ok(()) => self.take_ports(service, &mut reservation, port_rules::take_new).await,
            Err(error) => Err(error),
        };
        settled(reservation, taken).await
    }

    pub(super) async fn reserve_change(
        &self,
        new: &mut Service,
        mut old: Service,
        dry_run: bool,
    ) -> ApiResult<Box<dyn Reservation>> {
        // A service that was stored before there were lists of addresses and families.
        old.unite_new_addresses();
        new.keep_allocated_values(&old);
        new.unite_changed_addresses(&old);
        let families = families::settle(new, Some(&old), &self.families, &self.features);
        families.map_err(|errors| invalid(new, &errors))?;
        let mut reservation = self.start(&new.metadata, dry_run);
        let taken = self.change_addresses(new, &old, &mut reservation).await;
        let rules = |new: &mut Service, ports: &mut PortChange| port_rules::change(new, &old, ports);
        let taken = match taken {
            Ok(()) => self.take_ports(new, &mut reservation, rules).await,
            Err(error) => Err(error),
        };
        settled(reservation, taken).await
    }

    /// Releases the addresses and ports of a deleted service, and deletes the endpoints of its name: the next service
    /// of the name must not inherit them.
    pub(super) async fn release_all(&self, service: &Service) {
        let meta = &service.metadata;
        self.remove_endpoints(&meta.namespace, &meta.name).await;
        if !service.is_external_name() && !service.is_headless() {
            for address in service.spec.cluster_ips.iter().filter_map(|address| ip::parse(address)) {
                self.addresses.release_of(address, meta).await;
            }
        }
        let ports = port_rules::ports_of(service);
        match &self.stored_ports {
            Some(stored) => stored.release(&ports).await,
            None => ports.iter().for_each(|port| self.ports.release(*port)),
        }
    }

    /// Allocates the ports of a service by `rules`, and counts the attempts.
    async fn take_ports(
        &self,
        service: &mut Service,
        taking: &mut ServiceReservation,
        rules: impl Fn(&mut Service, &mut PortChange) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let taken = self.take_uncounted(service, taking, rules).await;
        let metrics = self.addresses.metrics();
        let attempts = taking.ports.take_attempts();
        attempts
            .into_iter()
            .for_each(|(scope, is_allocated)| metrics.port(scope, is_allocated));
        taken
    }

    async fn take_uncounted(
        &self,
        service: &mut Service,
        taking: &mut ServiceReservation,
        rules: impl Fn(&mut Service, &mut PortChange) -> ApiResult<()>,
    ) -> ApiResult<()> {
        let Some(stored) = &self.stored_ports else {
            return rules(service, &mut taking.ports);
        };
        let attempt = |taken: &BTreeSet<i32>| {
            let ports = NodePorts::holding(self.ports.range(), taken.clone());
            let (mut attempt, mut change) = (service.clone(), ports.begin(taking.dry_run));
            rules(&mut attempt, &mut change).map(|()| (attempt, change, ports.all()))
        };
        let first = attempt(&stored.known()?);
        let (done, change) = match first {
            // Most services have no ports of nodes.
            Ok((done, change, _)) if taking.dry_run || change.is_empty() => (done, change),
            first => {
                // Released, so that it leaves nothing.
                drop(first);
                let take = |taken: &mut BTreeSet<i32>| {
                    let (done, change, all) = attempt(taken)?;
                    *taken = all;
                    Ok((done, change))
                };
                stored.change(take).await?
            }
        };
        *service = done;
        taking.ports = change;
        Ok(())
    }

    async fn remove_endpoints(&self, namespace: &str, name: &str) {
        let Some(endpoints) = &self.endpoints else {
            return;
        };
        let key = endpoints.key(namespace, name);
        if !key.is_ok_and(|key| endpoints.collection().get(&key).is_some()) {
            return;
        }
        let path = format!("/api/v1/namespaces/{namespace}/endpoints/{name}");
        match self.loopback.call(Method::DELETE, &path, None).await {
            Ok(_) => {}
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => {}
            Err(error) => tracing::warn!(namespace, name, %error, "endpoints of a deleted service cannot be removed"),
        }
    }

    fn start(&self, service: &ObjectMeta, dry_run: bool) -> ServiceReservation {
        ServiceReservation {
            addresses: self.addresses.clone(),
            taken: Vec::new(),
            given_up: Vec::new(),
            service: service.clone(),
            ports: self.ports.begin(dry_run),
            stored_ports: self.stored_ports.clone(),
            dry_run,
        }
    }

    /// Allocates an address of each family of a service.
    async fn take_all_addresses(&self, service: &mut Service, taking: &mut ServiceReservation) -> ApiResult<()> {
        if service.is_external_name() || service.spec.cluster_ips.first().is_some_and(|first| first == "None") {
            return Ok(());
        }
        for index in 0..service.spec.ip_families.len() {
            self.take_address(service, index, taking).await?;
        }
        if let Some(first) = service.spec.cluster_ips.first() {
            service.spec.cluster_ip.clone_from(first);
        }
        Ok(())
    }

    /// Allocates the address of the family at `index`: the one that the service names there, or any.
    async fn take_address(
        &self,
        service: &mut Service,
        index: usize,
        taking: &mut ServiceReservation,
    ) -> ApiResult<()> {
        let Some(family) = service.spec.ip_families.get(index).and_then(|name| Family::named(name)) else {
            return Ok(());
        };
        let wanted = service.spec.cluster_ips.get(index).cloned().unwrap_or_default();
        if !wanted.is_empty() {
            // Its syntax was checked before.
            let Some(address) = ip::parse(&wanted) else {
                return Ok(());
            };
            let taken = self.addresses.take(address, service, taking.dry_run).await;
            let taken = taken.map_err(|error| refused(service, &wanted, &error))?;
            taking.taken.push(taken);
            return Ok(());
        }
        let taken = self.addresses.take_any(family, service, taking.dry_run).await;
        let taken = taken.map_err(|error| none_taken(service, &error))?;
        let text = taken.address.to_string();
        taking.taken.push(taken);
        match service.spec.cluster_ips.get_mut(index) {
            Some(place) => *place = text,
            None => service.spec.cluster_ips.push(text),
        }
        Ok(())
    }

    async fn change_addresses(
        &self,
        new: &mut Service,
        old: &Service,
        taking: &mut ServiceReservation,
    ) -> ApiResult<()> {
        if families::keeps_preference(new, Some(old)) {
            return Ok(());
        }
        if old.is_external_name() && !new.is_external_name() {
            return self.take_all_addresses(new, taking).await;
        }
        if old.spec.cluster_ips.first().is_some_and(|first| first == "None") {
            return Ok(());
        }
        let addresses = |service: &Service, from: usize| -> Vec<IpAddr> {
            let rest = service.spec.cluster_ips.iter().skip(from);
            rest.filter_map(|address| ip::parse(address)).collect()
        };
        if !old.is_external_name() && new.is_external_name() {
            taking.given_up = addresses(old, 0);
            return Ok(());
        }
        match (old.spec.ip_families.len(), new.spec.ip_families.len()) {
            (1, 2) => self.take_address(new, 1, taking).await,
            (2, 1) => {
                taking.given_up = addresses(old, 1);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Returns the reservation, or the error after everything was released.
async fn settled(reservation: ServiceReservation, taken: ApiResult<()>) -> ApiResult<Box<dyn Reservation>> {
    let reservation = Box::new(reservation);
    match taken {
        Ok(()) => Ok(reservation),
        Err(error) => {
            reservation.roll_back().await;
            Err(error)
        }
    }
}

fn invalid(service: &Service, errors: &FieldErrors) -> ApiError {
    ApiError::invalid(&GroupKind::new("", "Service"), &service.metadata.name, errors)
}

/// Returns the error for a service for which no address can be chosen.
fn none_taken(service: &Service, error: &AddressError) -> ApiError {
    if matches!(error, AddressError::Full) {
        let name = quote(&service.metadata.name);
        return ApiError::internal(format!("failed to allocate a serviceIP for Service {name}: {error}"));
    }
    // By now there is a place for the address of each family.
    let mut places = service.spec.cluster_ips.clone();
    places.resize(service.spec.ip_families.len().max(places.len()), String::new());
    let mut errors = FieldErrors::default();
    let why = match error {
        AddressError::Request(LoopbackError::Refused { message, .. }) => message.clone(),
        error => error.to_string(),
    };
    errors.invalid(
        "spec.clusterIPs",
        places.as_slice(),
        format!("failed to allocate IP: {why}"),
    );
    invalid(service, &errors)
}

fn refused(service: &Service, wanted: &str, error: &AddressError) -> ApiError {
    let mut errors = FieldErrors::default();
    let complaint = format!("failed to allocate IP {wanted}: {error}");
    errors.invalid("spec.clusterIPs", service.spec.cluster_ips.as_slice(), complaint);
    invalid(service, &errors)
}
