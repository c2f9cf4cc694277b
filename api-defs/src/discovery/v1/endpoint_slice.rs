//! Endpoint slices.

mod check;
mod columns;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::{Resource, Struct, ip, names};

use crate::core::v1::ObjectReference;

/// The deprecated address type.
const FQDN: &str = "FQDN";

/// Former topology label with the name of a node.
const HOSTNAME: &str = "kubernetes.io/hostname";

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// Controllers whose slices have addresses in canonical form already.
const CONTROLLERS: [&str; 2] = [
    "endpointslice-controller.k8s.io",
    "endpointslicemirroring-controller.k8s.io",
];

/// A subset of the endpoints of a service. The label kubernetes.io/service-name connects all slices of a service. A
/// slice contains addresses of one type only.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "discovery.k8s.io",
    version = "v1",
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "AddressType", type = "string", doc = "Type of the addresses.", path = "addressType"),
    column(name = "Ports", type = "string", doc = "The first ports.", with = columns::ports),
    column(name = "Endpoints", type = "string", doc = "The first addresses.", with = columns::addresses),
    column(age)
)]
pub struct EndpointSlice {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Type of the addresses: IPv4, IPv6, or FQDN, which is deprecated. Immutable.
    #[field(proto = 4, keep, known("IPv4", "IPv6", "FQDN"), go_type = "AddressType")]
    pub address_type: String,
    /// Endpoints, at most 1000.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub endpoints: Vec<Endpoint>,
    /// Ports of each endpoint, with distinct names; at most 20000. A port without a number stands for all ports.
    #[field(proto = 3, keep, optional, list_type = atomic)]
    pub ports: Vec<EndpointPort>,
}

/// An endpoint of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Endpoint {
    /// Addresses of the endpoint, 1 to 100, of the slice's type. All of them are equivalent, and consumers may use the
    /// first one only.
    #[field(proto = 1, keep, list_type = set)]
    pub addresses: Vec<String>,
    /// Conditions that determine the traffic to the endpoint.
    #[field(proto = 2)]
    pub conditions: EndpointConditions,
    /// Host name of the endpoint, a DNS label, for DNS records.
    #[field(proto = 3)]
    pub hostname: Option<String>,
    /// Object that the endpoint represents, usually a pod.
    #[field(proto = 4)]
    pub target_ref: Option<ObjectReference>,
    /// Topology labels of v1beta1. Read-only; see nodeName and zone.
    #[field(proto = 5)]
    pub deprecated_topology: BTreeMap<String, String>,
    /// Node on which the endpoint runs.
    #[field(proto = 6)]
    pub node_name: Option<String>,
    /// Zone of the endpoint.
    #[field(proto = 7)]
    pub zone: Option<String>,
    /// Hints about the clients that should use the endpoint.
    #[field(proto = 8)]
    pub hints: Option<EndpointHints>,
}

/// Conditions that determine the traffic to an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EndpointConditions {
    /// True if the endpoint accepts traffic and is not terminating. Always true for services that publish all
    /// addresses. Absent counts as true.
    #[field(proto = 1)]
    pub ready: Option<bool>,
    /// True if the endpoint accepts traffic, even if it is terminating. Defaults to ready when absent.
    #[field(proto = 2)]
    pub serving: Option<bool>,
    /// True if the endpoint is terminating. Absent counts as false.
    #[field(proto = 3)]
    pub terminating: Option<bool>,
}

/// Hints about the clients that should use an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EndpointHints {
    /// Zones whose clients should use the endpoint; at most eight.
    #[field(proto = 1, list_type = atomic)]
    pub for_zones: Vec<ForZone>,
    /// Nodes whose clients should use the endpoint; at most eight.
    #[field(proto = 2, list_type = atomic)]
    pub for_nodes: Vec<ForNode>,
}

/// A zone whose clients should use an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ForZone {
    /// Name of the zone.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// A node whose clients should use an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ForNode {
    /// Name of the node.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// A port of the endpoints of a slice.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct EndpointPort {
    /// Name of the port, equal to the name of the service's port: a DNS label, or empty.
    #[field(proto = 1)]
    pub name: Option<String>,
    /// Protocol: TCP (the default), UDP or SCTP.
    #[field(proto = 2, known("TCP", "UDP", "SCTP"), go_type = "v1.Protocol")]
    pub protocol: Option<String>,
    /// Number of the port. When absent, its meaning depends on the consumer, usually all ports.
    #[field(proto = 3)]
    pub port: Option<i32>,
    /// Application protocol of the port: an IANA service name, kubernetes.io/h2c, kubernetes.io/ws, kubernetes.io/wss,
    /// or a name with another domain prefix.
    #[field(proto = 4)]
    pub app_protocol: Option<String>,
}

impl Strategy for EndpointSlice {
    fn set_defaults(&mut self) {
        for port in &mut self.ports {
            port.name.get_or_insert_default();
            port.protocol.get_or_insert_with(|| "TCP".to_owned());
        }
    }

    fn prepare_for_create(&mut self, _: &Context<'_>) {
        for endpoint in &mut self.endpoints {
            endpoint.deprecated_topology.clear();
        }
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        // A change of a field that is dropped below counts, too.
        let moved = self.endpoints != old.endpoints;
        if moved || self.metadata.labels != old.metadata.labels {
            self.metadata.generation = old.metadata.generation + 1;
        }
        if moved {
            self.replace_topology(old);
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.address_type != old.address_type {
            errors.invalid("addressType", &self.address_type, "field is immutable");
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.warnings_since(None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        self.warnings_since(Some(old))
    }
}

impl StrategyExtensions for EndpointSlice {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(old), errors);
    }
}

impl EndpointSlice {
    /// Returns the warnings about the new object; `old` is absent on create.
    fn warnings_since(&self, old: Option<&Self>) -> Vec<String> {
        let mut warnings = Vec::new();
        if old.is_none() && self.address_type == FQDN {
            warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
        }
        let manager = self.metadata.labels.get(MANAGED_BY);
        if manager.is_some_and(|manager| CONTROLLERS.contains(&manager.as_str())) {
            return warnings;
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            for (at, address) in endpoint.addresses.iter().enumerate() {
                warnings.extend(ip::warnings(&format!("endpoints[{index}].addresses[{at}]"), address));
            }
        }
        warnings
    }

    /// Drops topology labels, which are read-only, and moves the node's name from its label to the field.
    fn replace_topology(&mut self, old: &Self) {
        let nodes = old.endpoints.iter();
        let nodes: BTreeSet<&String> = nodes
            .filter_map(|endpoint| endpoint.deprecated_topology.get(HOSTNAME))
            .collect();
        for endpoint in &mut self.endpoints {
            let topology = std::mem::take(&mut endpoint.deprecated_topology);
            let node = topology.get(HOSTNAME).filter(|node| nodes.contains(node));
            if endpoint.node_name.is_none() {
                endpoint.node_name = node.filter(|node| names::dns_subdomain(node).is_empty()).cloned();
            }
        }
    }
}
