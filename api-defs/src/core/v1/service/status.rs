//! Observed state of services.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::{Struct, ip, names};

/// Observed state of a service.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceStatus {
    /// Ingress points of the load balancer, if there is one.
    #[field(proto = 1)]
    pub load_balancer: LoadBalancerStatus,
    /// Conditions of the service.
    #[field(proto = 2, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

/// Ingress points of a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LoadBalancerStatus {
    /// Ingress points for traffic to the service.
    #[field(proto = 1, list_type = atomic)]
    pub ingress: Vec<LoadBalancerIngress>,
}

/// An ingress point for traffic to a service: an address or a host name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LoadBalancerIngress {
    /// IP address of the load balancer. Empty when it has a host name only.
    #[field(proto = 1)]
    pub ip: String,
    /// Host name of the load balancer. Empty when it has an address only.
    #[field(proto = 2)]
    pub hostname: String,
    /// Destination address of traffic that arrives at the nodes: VIP for the load balancer's address (the default),
    /// Proxy for the address of the node or the pod. Only with ip.
    #[field(proto = 3, go_type = "LoadBalancerIPMode")]
    pub ip_mode: Option<String>,
    /// Status of the service's ports at the load balancer.
    #[field(proto = 4, list_type = atomic)]
    pub ports: Vec<PortStatus>,
}

/// Observed state of a port at a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PortStatus {
    /// Number of the service's port.
    #[field(proto = 1, keep)]
    pub port: i32,
    /// Protocol of the port: TCP, UDP or SCTP.
    #[field(proto = 2, keep, known("TCP", "UDP", "SCTP"), go_type = "Protocol")]
    pub protocol: String,
    /// Reason why the port is not served: a CamelCase name, with a prefix such as example.com/ unless Kubernetes
    /// defines it.
    #[field(proto = 3)]
    pub error: Option<String>,
}

impl LoadBalancerStatus {
    pub(super) fn set_default_modes(&mut self) {
        for ingress in self.ingress.iter_mut().filter(|ingress| !ingress.ip.is_empty()) {
            ingress.ip_mode.get_or_insert_with(|| "VIP".to_owned());
        }
    }

    /// Reports errors. Addresses that `old` contains are tolerated.
    pub(super) fn check(&self, old: &Self, may_be_set: bool, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("status.loadBalancer");
        if !may_be_set && !self.ingress.is_empty() {
            errors.forbidden("ingress", "may only be used when `spec.type` is 'LoadBalancer'");
            return;
        }
        let known: BTreeSet<&str> = old.ingress.iter().map(|ingress| ingress.ip.as_str()).collect();
        for (index, ingress) in self.ingress.iter().enumerate() {
            ingress.check(&known, &mut errors.at_index("ingress", index));
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let ingress = self.ingress.iter().enumerate();
        let warnings = ingress.filter(|(_, ingress)| !ingress.ip.is_empty());
        warnings
            .flat_map(|(index, ingress)| ip::warnings(&format!("status.loadBalancer.ingress[{index}]"), &ingress.ip))
            .collect()
    }
}

impl LoadBalancerIngress {
    fn check(&self, known: &BTreeSet<&str>, errors: &mut FieldErrors) {
        if !self.ip.is_empty() && !known.contains(self.ip.as_str()) {
            for complaint in ip::check_legacy(&self.ip, errors.features()) {
                errors.invalid("ip", &self.ip, complaint);
            }
        }
        match self.ip_mode.as_deref() {
            None if !self.ip.is_empty() => errors.required("ipMode", "must be specified when `ip` is set"),
            Some(_) if self.ip.is_empty() => errors.forbidden("ipMode", "may not be specified when `ip` is not set"),
            Some(mode) if !matches!(mode, "Proxy" | "VIP") => errors.not_supported("ipMode", mode, &["Proxy", "VIP"]),
            _ => {}
        }
        check_balancer_hostname(&self.hostname, errors);
    }
}

/// Reports an illegal host name of a load balancer.
pub(crate) fn check_balancer_hostname(hostname: &str, errors: &mut FieldErrors) {
    if hostname.is_empty() {
        return;
    }
    for complaint in names::dns_subdomain(hostname) {
        errors.invalid("hostname", hostname, complaint);
    }
    if ip::parse(hostname).is_some() {
        errors.invalid("hostname", hostname, "must be a DNS name, not an IP address");
    }
}
