//! Endpoint slices in v1beta1, which has topology labels.

use std::collections::BTreeMap;

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::core::v1::ObjectReference;
use crate::discovery::v1;

pub use crate::discovery::v1::{EndpointConditions, EndpointHints, ForNode, ForZone};

/// Topology label that became the field `zone`.
const ZONE: &str = "topology.kubernetes.io/zone";

/// A subset of the endpoints of a service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "discovery.k8s.io", version = "v1beta1", unserved, generation, strategy)]
#[resource(storage_version = v1::EndpointSlice, convert)]
#[resource(
    deprecated = "discovery.k8s.io/v1beta1 EndpointSlice is deprecated in v1.21+, unavailable in v1.25+; use discovery.k8s.io/v1 EndpointSlice"
)]
pub struct EndpointSlice {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Type of the addresses: IPv4, IPv6 or FQDN.
    #[field(proto = 4, keep, go_type = "AddressType")]
    pub address_type: String,
    /// The endpoints.
    #[field(proto = 2, keep, optional, list_type = atomic)]
    pub endpoints: Vec<Endpoint>,
    /// The ports of each endpoint.
    #[field(proto = 3, keep, optional, list_type = atomic)]
    pub ports: Vec<EndpointPort>,
}

/// An endpoint of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Endpoint {
    /// Addresses of the endpoint.
    #[field(proto = 1, keep, optional, list_type = set)]
    pub addresses: Vec<String>,
    /// Conditions that determine the traffic to the endpoint.
    #[field(proto = 2)]
    pub conditions: EndpointConditions,
    /// Host name of the endpoint.
    #[field(proto = 3)]
    pub hostname: Option<String>,
    /// Object that the endpoint stands for.
    #[field(proto = 4)]
    pub target_ref: Option<ObjectReference>,
    /// Topology labels of the endpoint.
    #[field(proto = 5)]
    pub topology: BTreeMap<String, String>,
    /// Node on which the endpoint runs.
    #[field(proto = 6)]
    pub node_name: Option<String>,
    /// Hints about the clients that should use the endpoint.
    #[field(proto = 7)]
    pub hints: Option<EndpointHints>,
}

/// A port of the endpoints of a slice.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EndpointPort {
    /// Name of the port.
    #[field(proto = 1)]
    pub name: Option<String>,
    /// The protocol.
    #[field(proto = 2, go_type = "v1.Protocol")]
    pub protocol: Option<String>,
    /// Number of the port.
    #[field(proto = 3)]
    pub port: Option<i32>,
    /// Application protocol of the port.
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
}

impl Convert<v1::EndpointSlice> for EndpointSlice {
    fn finish_to_hub(&self, hub: &mut v1::EndpointSlice) {
        for (old, new) in self.endpoints.iter().zip(&mut hub.endpoints) {
            new.deprecated_topology.clone_from(&old.topology);
            new.zone = new.deprecated_topology.remove(ZONE);
        }
    }

    fn finish_from_hub(&mut self, hub: &v1::EndpointSlice) {
        for (old, new) in self.endpoints.iter_mut().zip(&hub.endpoints) {
            old.topology.clone_from(&new.deprecated_topology);
            if let Some(zone) = &new.zone {
                old.topology.insert(ZONE.to_owned(), zone.clone());
            }
        }
    }

    fn can_hold(hub: &v1::EndpointSlice) -> bool {
        // The label would be converted to the field.
        let clash = |endpoint: &v1::Endpoint| endpoint.deprecated_topology.contains_key(ZONE);
        !hub.endpoints.iter().any(clash)
    }
}
