//! Validation of network policies.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};
use planesmith_machinery::{ip, names};

use super::{IPBlock, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec};

const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
const TYPES: [&str; 2] = ["Ingress", "Egress"];

/// Rule violations that an update may keep because the stored policy already has them.
struct Tolerance<'o> {
    values: SelectorValues,
    ranges: BTreeSet<&'o str>,
}

impl NetworkPolicySpec {
    /// Reports errors in the spec, which replaces `old`.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let tolerance = Tolerance::from_old(old);
        let errors = &mut *errors.at("spec");
        check_label_selector(&self.pod_selector, tolerance.values, &mut errors.at("podSelector"));
        for (index, rule) in self.ingress.iter().enumerate() {
            let errors = &mut *errors.at_index("ingress", index);
            check_rule(&rule.ports, "from", &rule.from, &tolerance, errors);
        }
        for (index, rule) in self.egress.iter().enumerate() {
            let errors = &mut *errors.at_index("egress", index);
            check_rule(&rule.ports, "to", &rule.to, &tolerance, errors);
        }
        if self.policy_types.len() > TYPES.len() {
            let complaint = "may not specify more than two policyTypes";
            return errors.invalid("policyTypes", self.policy_types.as_slice(), complaint);
        }
        for (index, type_) in self.policy_types.iter().enumerate() {
            if !TYPES.contains(&type_.as_str()) {
                let mut errors = errors.at_index("policyTypes", index);
                errors.not_supported_in_order("", type_.as_str(), &TYPES);
            }
        }
    }
}

impl<'o> Tolerance<'o> {
    fn from_old(old: Option<&'o NetworkPolicySpec>) -> Self {
        let Some(old) = old else {
            return Self {
                values: SelectorValues::Legal,
                ranges: BTreeSet::new(),
            };
        };
        let mut errors = FieldErrors::default();
        check_label_selector(&old.pod_selector, SelectorValues::Legal, &mut errors);
        let incoming = old.ingress.iter().flat_map(|rule| &rule.from);
        let peers = incoming.chain(old.egress.iter().flat_map(|rule| &rule.to));
        let blocks = peers.filter_map(|peer| peer.ip_block.as_ref());
        let ranges = blocks.flat_map(|block| std::iter::once(&block.cidr).chain(&block.except));
        Self {
            values: match errors.is_empty() {
                true => SelectorValues::Legal,
                false => SelectorValues::Any,
            },
            ranges: ranges.map(String::as_str).collect(),
        }
    }

    /// Reports a new malformed range.
    fn check_range(&self, range: &str, field: &str, errors: &mut FieldErrors) {
        if !self.ranges.contains(range) {
            for complaint in ip::check_legacy_range(range, errors.features()) {
                errors.invalid(field, range, complaint);
            }
        }
    }
}

fn check_rule(
    ports: &[NetworkPolicyPort],
    side: &str,
    peers: &[NetworkPolicyPeer],
    tolerance: &Tolerance<'_>,
    errors: &mut FieldErrors,
) {
    for (index, port) in ports.iter().enumerate() {
        port.check(&mut errors.at_index("ports", index));
    }
    for (index, peer) in peers.iter().enumerate() {
        peer.check(tolerance, &mut errors.at_index(side, index));
    }
}

impl NetworkPolicyPort {
    fn check(&self, errors: &mut FieldErrors) {
        if let Some(protocol) = self
            .protocol
            .as_deref()
            .filter(|protocol| !PROTOCOLS.contains(protocol))
        {
            errors.not_supported_in_order("protocol", protocol, &PROTOCOLS);
        }
        match (&self.port, self.end_port) {
            (Some(IntOrString::Int(port)), end) => {
                for complaint in names::port_number(i64::from(*port)) {
                    errors.invalid("port", *port, complaint);
                }
                let Some(end) = end else { return };
                if end < *port {
                    errors.invalid("endPort", *port, "must be greater than or equal to `port`");
                }
                for complaint in names::port_number(i64::from(end)) {
                    errors.invalid("endPort", end, complaint);
                }
            }
            (Some(IntOrString::String(name)), end) => {
                if let Some(end) = end {
                    errors.invalid("endPort", end, "may not be specified when `port` is non-numeric");
                }
                for complaint in names::port_name(name) {
                    errors.invalid("port", name, complaint);
                }
            }
            (None, Some(end)) => errors.invalid("endPort", end, "may not be specified when `port` is not specified"),
            (None, None) => {}
        }
    }
}

impl NetworkPolicyPeer {
    fn check(&self, tolerance: &Tolerance<'_>, errors: &mut FieldErrors) {
        let selectors = [
            ("podSelector", &self.pod_selector),
            ("namespaceSelector", &self.namespace_selector),
        ];
        let mut count = 0;
        for (field, selector) in selectors {
            if let Some(selector) = selector {
                count += 1;
                check_label_selector(selector, tolerance.values, &mut errors.at(field));
            }
        }
        match &self.ip_block {
            Some(block) => {
                block.check(tolerance, &mut errors.at("ipBlock"));
                if count > 0 {
                    errors.forbidden("", "may not specify both ipBlock and another peer");
                }
            }
            None if count == 0 => errors.required("", "must specify a peer"),
            None => {}
        }
    }
}

impl IPBlock {
    fn check(&self, tolerance: &Tolerance<'_>, errors: &mut FieldErrors) {
        if self.cidr.is_empty() {
            return errors.required("cidr", "");
        }
        tolerance.check_range(&self.cidr, "cidr", errors);
        let Some((_, outer)) = ip::parse_range(&self.cidr) else {
            return;
        };
        for (index, text) in self.except.iter().enumerate() {
            let errors = &mut *errors.at_index("except", index);
            tolerance.check_range(text, "", errors);
            let Some((_, inner)) = ip::parse_range(text) else {
                continue;
            };
            if !outer.contains(inner.network()) || outer.bits() >= inner.bits() {
                errors.invalid("", text, "must be a strict subset of `cidr`");
            }
        }
    }
}
