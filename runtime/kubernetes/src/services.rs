//! The addresses and endpoints of services.

use std::sync::Arc;

use planesmith_api_defs::core::v1::{Endpoints, Service};
use planesmith_api_defs::discovery::v1::EndpointSlice;
use planesmith_control_plane::service_resolver::{Resolver, SERVICE_NAME, ServicePort, ServiceResolver, Unreachable};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::object::Resource;
use planesmith_server::proxy::Destination;
use planesmith_server::stores::{ResourceStore, Stores};
use planesmith_store::{Entry, ListQuery};

/// Finds the endpoints of services.
#[derive(Clone)]
pub(crate) struct Services {
    services: Option<Arc<ResourceStore>>,
    slices: Option<Arc<ResourceStore>>,
    endpoints: Option<Arc<ResourceStore>>,
    /// True to send requests to endpoints, false to send them to the service's address; `None` uses endpoints if
    /// there are any.
    to_endpoints: Option<bool>,
}

/// The endpoints behind a port of a service at the moment.
pub(crate) struct ServiceEndpoints {
    /// True if any EndpointSlice or Endpoints object describes the service.
    pub(crate) is_known: bool,
    /// The ready addresses, each with its port.
    pub(crate) ready: Vec<(String, u16)>,
}

impl Services {
    /// The services of a server, which may have none. They are reached at their endpoints or at their own addresses, as
    /// `to_endpoints` says; otherwise at endpoints when there are any.
    pub(crate) fn new(stores: &Stores, to_endpoints: Option<bool>) -> Self {
        let of = |group, version, plural| {
            let facts = stores.scheme().resource(group, version, plural)?;
            Some(stores.resource(facts))
        };
        Self {
            services: of("", "v1", "services"),
            slices: of("discovery.k8s.io", "v1", "endpointslices"),
            endpoints: of("", "v1", "endpoints"),
            to_endpoints,
        }
    }

    /// Returns the service.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<Service> {
        get(self.services.as_ref()?, namespace, name)
    }

    /// Returns an address behind a port of a service.
    ///
    /// As in kube-apiserver, an external name may stand for loopback; addresses of endpoints and services may not.
    pub(crate) fn address(&self, namespace: &str, name: &str, port: u16) -> Result<Destination, String> {
        let quoted = quote(name);
        let service = self.get(namespace, name);
        let service = service.ok_or_else(|| format!("service {quoted} not found"))?;
        let spec = &service.spec;
        match spec.type_.as_str() {
            "ExternalName" => return Ok(Destination::of_object(&spec.external_name, port).or_loopback()),
            "" | "ClusterIP" | "NodePort" | "LoadBalancer" => {}
            other => return Err(format!("unsupported service type {}", quote(other))),
        }
        let found = spec.ports.iter().find(|known| known.port == i32::from(port));
        if self.to_endpoints != Some(false)
            && let Some(found) = found
            && let Some((host, port)) = fastrand::choice(self.endpoints_of(namespace, name, &found.name).ready)
        {
            return Ok(Destination::of_object(host, port));
        }
        match (self.to_endpoints, spec.cluster_ip.as_str(), found) {
            (Some(true), _, Some(_)) => Err(format!("no endpoints available for service {quoted}")),
            (None | Some(false), "None", _) => Err(r#"cannot route to service with ClusterIP "None""#.to_owned()),
            (_, _, None) => Err(format!("no service port {port} found for service {quoted}")),
            (_, address, Some(_)) => Ok(Destination::of_object(address, port)),
        }
    }

    /// Returns the ready endpoints behind the port named `port` of a service.
    pub(crate) fn endpoints_of(&self, namespace: &str, name: &str, port: &str) -> ServiceEndpoints {
        let slices = self.slices_of(namespace, name);
        if !slices.is_empty() {
            return ServiceEndpoints {
                is_known: true,
                ready: slices.iter().flat_map(|slice| ready_in(slice, port)).collect(),
            };
        }
        // Without slices, Endpoints have the same data.
        let endpoints = self.endpoints.as_ref();
        let endpoints: Option<Endpoints> = endpoints.and_then(|store| get(store, namespace, name));
        let Some(endpoints) = endpoints else {
            return ServiceEndpoints {
                is_known: false,
                ready: Vec::new(),
            };
        };
        let ready = endpoints.subsets.iter().flat_map(|subset| {
            let number = subset.ports.iter().find(|known| known.name == port);
            let number = number.and_then(|known| u16::try_from(known.port).ok());
            let addresses = subset.addresses.iter();
            addresses.filter_map(move |address| Some((address.ip.clone(), number?)))
        });
        ServiceEndpoints {
            is_known: true,
            ready: ready.collect(),
        }
    }

    fn slices_of(&self, namespace: &str, name: &str) -> Vec<EndpointSlice> {
        let Some(store) = &self.slices else { return Vec::new() };
        let prefix = store.prefix(namespace);
        let own = |entry: &Entry| entry.row().label(SERVICE_NAME) == Some(name);
        let page = store.collection().list(&ListQuery {
            filter: Some(&own),
            ..ListQuery::all(&prefix)
        });
        // The newest state is never compacted.
        let entries = page.map(|page| page.entries).unwrap_or_default();
        entries.iter().filter_map(|entry| store.typed(entry)).collect()
    }
}

fn get<R: Resource>(store: &ResourceStore, namespace: &str, name: &str) -> Option<R> {
    let key = store.key(namespace, name).ok()?;
    store.typed(&*store.collection().get(&key)?)
}

/// Returns the ready addresses of a slice, at the port of that name.
fn ready_in(slice: &EndpointSlice, port: &str) -> Vec<(String, u16)> {
    let number = slice.ports.iter().find(|known| known.name.as_deref() == Some(port));
    let Some(number) = number.and_then(|known| u16::try_from(known.port?).ok()) else {
        return Vec::new();
    };
    let ready = slice
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.conditions.ready != Some(false));
    let addresses = ready.filter_map(|endpoint| endpoint.addresses.first());
    addresses.map(|address| (address.clone(), number)).collect()
}

impl ServiceResolver for Services {
    fn check(&self, service: &ServicePort) -> Result<(), Unreachable> {
        let ServicePort { namespace, name, port } = service;
        let place = format!("service/{name} in {}", quote(namespace));
        let refused = |reason, message| Err(Unreachable { reason, message });
        let Some(found) = self.get(namespace, name) else {
            return Err(Unreachable::not_found(service));
        };
        if found.spec.type_ != "ClusterIP" {
            return Ok(());
        }
        let known = found.spec.ports.iter().find(|known| known.port == i32::from(*port));
        let Some(known) = known else {
            let message = format!("{place} is not listening on port {port}");
            return refused("ServicePortError", message);
        };
        let endpoints = self.endpoints_of(namespace, name, &known.name);
        if !endpoints.is_known {
            let message = format!("cannot find endpointslices for {place}");
            return refused("EndpointsNotFound", message);
        }
        if endpoints.ready.is_empty() {
            let port = quote(&known.name);
            let message = format!("endpointslices for {place} have no addresses with port name {port}");
            return refused("MissingEndpoints", message);
        }
        Ok(())
    }
}

impl Resolver for Services {
    fn resolve(&self, service: &ServicePort) -> Result<Destination, String> {
        self.address(&service.namespace, &service.name, service.port)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::memory_stores::{self, put};

    fn stores() -> Stores {
        memory_stores::stores(|scheme| {
            scheme.add::<Service>();
            scheme.add::<Endpoints>();
            scheme.add::<EndpointSlice>();
        })
    }

    fn service(spec: &Value) -> Value {
        json!({"metadata": {"name": "s", "namespace": "a"}, "spec": spec})
    }

    #[tokio::test]
    async fn a_service_leads_to_what_is_ready_behind_its_port() {
        let stores = stores();
        let (near, far) = (Services::new(&stores, Some(true)), Services::new(&stores, Some(false)));
        let address = |services: &Services, port| services.address("a", "s", port);
        assert_eq!(address(&near, 443).unwrap_err(), r#"service "s" not found"#);

        let spec = json!({"type": "ClusterIP", "clusterIP": "10.0.0.9", "ports": [{"name": "https", "port": 443}]});
        put::<Service>(&stores, &service(&spec)).await;
        assert_eq!(address(&far, 443).unwrap(), Destination::of_object("10.0.0.9", 443));
        assert_eq!(
            address(&near, 80).unwrap_err(),
            r#"no service port 80 found for service "s""#
        );
        assert_eq!(
            address(&near, 443).unwrap_err(),
            r#"no endpoints available for service "s""#
        );
        assert!(!near.endpoints_of("a", "s", "https").is_known);
        let either = Services::new(&stores, None);
        assert_eq!(address(&either, 443).unwrap(), Destination::of_object("10.0.0.9", 443));

        let subset = json!({"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "https", "port": 6443}]});
        let endpoints = json!({"metadata": {"name": "s", "namespace": "a"}, "subsets": [subset]});
        put::<Endpoints>(&stores, &endpoints).await;
        assert_eq!(address(&near, 443).unwrap(), Destination::of_object("192.0.2.1", 6443));

        let slice = json!({
            "metadata": {"name": "s-1", "namespace": "a", "labels": {SERVICE_NAME: "s"}},
            "ports": [{"name": "https", "port": 7443}],
            "endpoints": [
                {"addresses": ["192.0.2.2"], "conditions": {"ready": false}},
                {"addresses": ["192.0.2.3"], "conditions": {}},
            ],
        });
        put::<EndpointSlice>(&stores, &slice).await;
        assert_eq!(address(&near, 443).unwrap(), Destination::of_object("192.0.2.3", 7443));
        assert_eq!(
            address(&either, 443).unwrap(),
            Destination::of_object("192.0.2.3", 7443)
        );
    }

    #[tokio::test]
    async fn names_outside_are_reached_by_their_name() {
        let stores = stores();
        let spec = json!({"type": "ExternalName", "externalName": "far.example.com"});
        put::<Service>(&stores, &service(&spec)).await;
        let services = Services::new(&stores, None);
        assert_eq!(
            services.address("a", "s", 8443).unwrap(),
            Destination::of_object("far.example.com", 8443).or_loopback()
        );
    }
}
