//! Validation of endpoint slices.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::validation::check_labels;
use planesmith_machinery::{ip, names};

use super::{Endpoint, EndpointHints, EndpointPort, EndpointSlice, FQDN};
use crate::core::v1::protocol::PROTOCOLS;

const ADDRESS_TYPES: [&str; 3] = [FQDN, "IPv4", "IPv6"];
const ZONE: &str = "topology.kubernetes.io/zone";

const MAX_ENDPOINTS: usize = 1000;
const MAX_ADDRESSES: usize = 100;
const MAX_PORTS: usize = 20_000;
const MAX_TOPOLOGY: usize = 16;
const MAX_HINTS: usize = 8;

impl EndpointSlice {
    /// Reports errors. Endpoints that equal those of `old` are not checked.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        if self.address_type.is_empty() {
            errors.required("addressType", "");
        } else if !ADDRESS_TYPES.contains(&self.address_type.as_str()) {
            errors.not_supported("addressType", self.address_type.as_str(), &ADDRESS_TYPES);
        }
        check_ports(&self.ports, errors);
        if old.is_some_and(|old| old.endpoints == self.endpoints) {
            return;
        }
        if self.endpoints.len() > MAX_ENDPOINTS {
            return errors.too_many("endpoints", self.endpoints.len(), MAX_ENDPOINTS as u64);
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            endpoint.check(&self.address_type, &mut errors.at_index("endpoints", index));
        }
    }
}

impl Endpoint {
    fn check(&self, address_type: &str, errors: &mut FieldErrors) {
        match self.addresses.len() {
            0 => errors.required("addresses", "must contain at least 1 address"),
            count if count > MAX_ADDRESSES => errors.too_many("addresses", count, MAX_ADDRESSES as u64),
            _ => {}
        }
        for (index, address) in self.addresses.iter().enumerate() {
            match address_type {
                FQDN => check_domain(address, &mut errors.at_index("addresses", index)),
                "IPv4" => {
                    let complaints = ip::check_legacy(address, errors.features());
                    check_address(ip::Family::V4, complaints, index, address, errors);
                }
                "IPv6" => check_address(ip::Family::V6, ip::check(address), index, address, errors),
                // Addresses of other types are not checked.
                _ => {}
            }
        }
        if let Some(node) = &self.node_name {
            for complaint in names::dns_subdomain(node) {
                errors.invalid("nodeName", node, complaint);
            }
        }
        let topology = &self.deprecated_topology;
        if topology.len() > MAX_TOPOLOGY {
            errors.too_many("deprecatedTopology", topology.len(), MAX_TOPOLOGY as u64);
        }
        check_labels("deprecatedTopology", topology, errors);
        if topology.contains_key(ZONE) {
            let mut errors = errors.at_key("deprecatedTopology", ZONE);
            errors.internal("", "reserved key was not removed in conversion");
        }
        if let Some(hostname) = &self.hostname {
            for complaint in names::dns_label(hostname) {
                errors.invalid("hostname", hostname, complaint);
            }
        }
        if let Some(hints) = &self.hints {
            hints.check(&mut errors.at("hints"));
        }
    }
}

/// Reports errors in an address, in whose form there are `complaints`. As in kube-apiserver, an address of the wrong family has the path of the whole list.
fn check_address(
    family: ip::Family,
    mut complaints: names::Complaints,
    index: usize,
    address: &str,
    errors: &mut FieldErrors,
) {
    if complaints.is_empty() {
        if ip::parse(address).map(ip::Family::from_address) != Some(family) {
            errors.invalid("addresses", address, format!("must be an {} address", family.name()));
        }
        complaints = ip::check_reachable(address);
    }
    for complaint in complaints {
        errors.at_index("addresses", index).invalid("", address, complaint);
    }
}

/// Reports a domain name that is malformed or has only one label.
fn check_domain(name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        return errors.required("", "");
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let complaints = names::dns_subdomain(name);
    if !complaints.is_empty() {
        return errors.invalid("", name, complaints.join(","));
    }
    if !name.contains('.') {
        let complaint = "should be a domain with at least two segments separated by dots";
        return errors.invalid("", name, complaint);
    }
    for label in name.split('.') {
        let complaints = names::dns_label(label);
        if !complaints.is_empty() {
            return errors.invalid("", label, complaints.join(","));
        }
    }
}

impl EndpointHints {
    fn check(&self, errors: &mut FieldErrors) {
        if self.for_zones.len() > MAX_HINTS {
            return errors.too_many("forZones", self.for_zones.len(), MAX_HINTS as u64);
        }
        let zones = self.for_zones.iter().map(|zone| zone.name.as_str());
        check_hinted("forZones", zones, names::label_value, errors);
        if self.for_nodes.len() > MAX_HINTS {
            return errors.too_many("forNodes", self.for_nodes.len(), MAX_HINTS as u64);
        }
        let nodes = self.for_nodes.iter().map(|node| node.name.as_str());
        check_hinted("forNodes", nodes, names::dns_subdomain, errors);
    }
}

fn check_hinted<'n>(
    field: &str,
    hinted: impl Iterator<Item = &'n str>,
    check: fn(&str) -> names::Complaints,
    errors: &mut FieldErrors,
) {
    let mut seen = BTreeSet::new();
    for (index, name) in hinted.enumerate() {
        let errors = &mut *errors.at_index(field, index);
        if !seen.insert(name) {
            errors.duplicate("name", name);
        }
        for complaint in check(name) {
            errors.invalid("name", name, complaint);
        }
    }
}

fn check_ports(ports: &[EndpointPort], errors: &mut FieldErrors) {
    if ports.len() > MAX_PORTS {
        return errors.too_many("ports", ports.len(), MAX_PORTS as u64);
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let errors = &mut *errors.at_index("ports", index);
        let name = port.name.as_deref().unwrap_or_default();
        if !name.is_empty() {
            for complaint in names::dns_label(name) {
                errors.invalid("name", name, complaint);
            }
        }
        if !seen.insert(name) {
            errors.duplicate("name", name);
        }
        match port.protocol.as_deref() {
            None => errors.required("protocol", ""),
            Some(protocol) if !PROTOCOLS.contains(&protocol) => {
                errors.not_supported("protocol", protocol, &PROTOCOLS);
            }
            Some(_) => {}
        }
        if let Some(protocol) = &port.app_protocol {
            for complaint in names::qualified_name(protocol) {
                errors.invalid("appProtocol", protocol, complaint);
            }
        }
    }
}
