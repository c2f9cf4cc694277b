//! Endpoints objects: all addresses behind a service in one object.

mod check;
mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions};
use planesmith_machinery::{Resource, Struct, ip};

use super::ObjectReference;

/// Label of objects that the endpoints controller manages, whose addresses are in canonical form already.
const MANAGED_BY: (&str, &str) = ("endpoints.kubernetes.io/managed-by", "endpoint-controller");

/// Addresses behind the service of the same name. Deprecated: use EndpointSlices, which distribute the addresses over
/// several objects.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    plural = "endpoints",
    singular = "endpoints",
    storage_name = "services/endpoints",
    short("ep"),
    create_on_update,
    deprecated = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Endpoints", type = "string", doc = "The first addresses with their ports.", with = columns::endpoints),
    column(age)
)]
pub struct Endpoints {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Groups of addresses with the same ports. The endpoints are the union of all groups.
    #[field(proto = 2, list_type = atomic)]
    pub subsets: Vec<EndpointSubset>,
}

/// Addresses that share ports: each combination of an address and a port is an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EndpointSubset {
    /// Addresses of endpoints that are ready for traffic.
    #[field(proto = 1, list_type = atomic)]
    pub addresses: Vec<EndpointAddress>,
    /// Addresses of endpoints that are not ready, because they are starting or fail a probe.
    #[field(proto = 2, list_type = atomic)]
    pub not_ready_addresses: Vec<EndpointAddress>,
    /// Ports of each of these addresses.
    #[field(proto = 3, list_type = atomic)]
    pub ports: Vec<EndpointPort>,
}

/// An address behind a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct EndpointAddress {
    /// IP address. Must not be a loopback or link-local address.
    #[field(proto = 1, keep)]
    pub ip: String,
    /// Host name of the endpoint.
    #[field(proto = 3)]
    pub hostname: String,
    /// Node on which the endpoint runs.
    #[field(proto = 4)]
    pub node_name: Option<String>,
    /// Object that the address belongs to, usually a pod.
    #[field(proto = 2)]
    pub target_ref: Option<ObjectReference>,
}

/// A port behind a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct EndpointPort {
    /// Name of the port, a DNS label, equal to the name of the service's port. Optional when there is only one port.
    #[field(proto = 1)]
    pub name: String,
    /// Number of the port, from 1 to 65535.
    #[field(proto = 2, keep)]
    pub port: i32,
    /// Protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 3, known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Application protocol of the port.
    #[field(proto = 4)]
    pub app_protocol: Option<String>,
}

impl Strategy for Endpoints {
    fn set_defaults(&mut self) {
        let ports = self.subsets.iter_mut().flat_map(|subset| &mut subset.ports);
        for port in ports.filter(|port| port.protocol.is_empty()) {
            "TCP".clone_into(&mut port.protocol);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let (label, controller) = MANAGED_BY;
        if self.metadata.labels.get(label).is_some_and(|value| value == controller) {
            return Vec::new();
        }
        let mut warnings = Vec::new();
        for (index, subset) in self.subsets.iter().enumerate() {
            for (field, addresses) in [
                ("addresses", &subset.addresses),
                ("notReadyAddresses", &subset.not_ready_addresses),
            ] {
                for (at, address) in addresses.iter().enumerate() {
                    let path = format!("subsets[{index}].{field}[{at}].ip");
                    warnings.extend(ip::warnings(&path, &address.ip));
                }
            }
        }
        warnings
    }
}

impl StrategyExtensions for Endpoints {
    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}
