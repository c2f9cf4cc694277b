//! Validation of endpoints.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{ip, names};

use super::{EndpointAddress, EndpointPort, Endpoints};
use crate::core::v1::protocol::check_protocol;

impl Endpoints {
    /// Reports errors. Subsets that equal those of `old` are not checked.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        if old.is_some_and(|old| old.subsets == self.subsets) {
            return;
        }
        for (index, subset) in self.subsets.iter().enumerate() {
            let errors = &mut *errors.at_index("subsets", index);
            if subset.addresses.is_empty() && subset.not_ready_addresses.is_empty() {
                errors.required("", "must specify `addresses` or `notReadyAddresses`");
            }
            for (at, address) in subset.addresses.iter().enumerate() {
                address.check(&mut errors.at_index("addresses", at));
            }
            for (at, address) in subset.not_ready_addresses.iter().enumerate() {
                address.check(&mut errors.at_index("notReadyAddresses", at));
            }
            for (at, port) in subset.ports.iter().enumerate() {
                port.check(subset.ports.len() > 1, &mut errors.at_index("ports", at));
            }
        }
    }
}

impl EndpointAddress {
    fn check(&self, errors: &mut FieldErrors) {
        for complaint in ip::check_legacy(&self.ip, errors.features()) {
            errors.invalid("ip", &self.ip, complaint);
        }
        if !self.hostname.is_empty() {
            for complaint in names::dns_label(&self.hostname) {
                errors.invalid("hostname", &self.hostname, complaint);
            }
        }
        if let Some(node) = &self.node_name {
            for complaint in names::dns_subdomain(node) {
                errors.invalid("nodeName", node, complaint);
            }
        }
        if ip::parse(&self.ip).is_none() {
            // kube-apiserver reports this error twice.
            errors.invalid("ip", &self.ip, "must be a valid IP address");
        }
        for complaint in ip::check_reachable(&self.ip) {
            errors.invalid("ip", &self.ip, complaint);
        }
    }
}

impl EndpointPort {
    fn check(&self, needs_name: bool, errors: &mut FieldErrors) {
        if needs_name && self.name.is_empty() {
            errors.required("name", "");
        } else if !self.name.is_empty() {
            for complaint in names::dns_label(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
        }
        for complaint in names::port_number(i64::from(self.port)) {
            errors.invalid("port", self.port, complaint);
        }
        check_protocol(&self.protocol, errors);
        if let Some(protocol) = &self.app_protocol {
            for complaint in names::qualified_name(protocol) {
                errors.invalid("appProtocol", protocol, complaint);
            }
        }
    }
}
