//! Validation of services.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::{ip, names};

use super::{
    CLUSTER, CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, LOCAL, NODE_PORT, Service, ServicePort, SessionAffinityConfig,
    check_cluster_ips,
};
use planesmith_machinery::validation::check_labels;

/// Maximum affinity timeout in seconds: one day.
const MAX_AFFINITY_SECONDS: i32 = 86_400;

const TYPES: [&str; 4] = [CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT];
const TRAFFIC_POLICIES: [&str; 2] = [CLUSTER, LOCAL];
const DISTRIBUTIONS: [&str; 3] = ["PreferClose", "PreferSameZone", "PreferSameNode"];

const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const MODE: &str = "service.kubernetes.io/topology-mode";
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";
const NOT_FOR_EXTERNAL_NAME: &str = "may not be set for ExternalName services";

impl Service {
    /// Reports errors in the service. Values that `old` contains may use deprecated formats.
    pub(super) fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        self.check_topology_annotations(errors);
        let spec = &self.spec;
        if spec.ports.is_empty() && !self.is_headless() && !self.is_external_name() {
            errors.required("spec.ports", "");
        }
        self.check_type_requirements(errors);
        self.check_each_port(errors);
        check_labels("spec.selector", &spec.selector, errors);
        self.check_affinity(errors);
        match old {
            Some(old) if old.spec.cluster_ips == spec.cluster_ips => self.check_unchanged_addresses(errors),
            _ => check_cluster_ips(self, errors),
        }
        self.check_external_ips(old, errors);
        if spec.type_.is_empty() {
            errors.required("spec.type", "");
        } else if !TYPES.contains(&spec.type_.as_str()) {
            errors.not_supported("spec.type", spec.type_.as_str(), &TYPES);
        }
        self.check_all_ports(errors);
        self.check_source_ranges(old, errors);
        self.check_load_balancer_fields(errors);
        self.check_traffic(errors);
    }

    /// Checks the addresses like [`check_cluster_ips`], but permits deprecated address formats.
    fn check_unchanged_addresses(&self, errors: &mut FieldErrors) {
        let mut canonical = self.clone();
        for (plural, address) in canonical.spec.cluster_ips.iter_mut().enumerate() {
            if let Some(parsed) = ip::parse(address) {
                let text = parsed.to_string();
                if plural == 0 && canonical.spec.cluster_ip == *address {
                    canonical.spec.cluster_ip.clone_from(&text);
                }
                *address = text;
            }
        }
        check_cluster_ips(&canonical, errors);
    }

    fn check_topology_annotations(&self, errors: &mut FieldErrors) {
        let annotations = &self.metadata.annotations;
        if let (Some(hints), Some(mode)) = (annotations.get(HINTS), annotations.get(MODE))
            && hints != mode
        {
            let complaint = format!("must match annotations[{HINTS}] when both are specified");
            errors.at_key("metadata.annotations", MODE).invalid("", mode, complaint);
        }
    }

    fn check_type_requirements(&self, errors: &mut FieldErrors) {
        let spec = &self.spec;
        let errors = &mut *errors.at("spec");
        let type_ = spec.type_.as_str();
        if matches!(type_, LOAD_BALANCER | NODE_PORT) && self.is_headless() {
            let complaint = format!("may not be set to 'None' for {type_} services");
            errors.at_index("clusterIPs", 0).invalid("", "None", complaint);
        }
        if type_ != EXTERNAL_NAME {
            return;
        }
        if !spec.cluster_ips.is_empty() {
            errors.forbidden("clusterIPs", NOT_FOR_EXTERNAL_NAME);
        }
        if !spec.ip_families.is_empty() {
            errors.forbidden("ipFamilies", NOT_FOR_EXTERNAL_NAME);
        }
        if spec.ip_family_policy.is_some() {
            errors.forbidden("ipFamilyPolicy", NOT_FOR_EXTERNAL_NAME);
        }
        // A trailing dot marks an absolute name.
        let host = spec.external_name.strip_suffix('.').unwrap_or(&spec.external_name);
        if host.is_empty() {
            errors.required("externalName", "");
        } else {
            for complaint in names::dns_subdomain(host) {
                errors.invalid("externalName", host, complaint);
            }
        }
    }

    fn check_each_port(&self, errors: &mut FieldErrors) {
        let ports = &self.spec.ports;
        let mut names = BTreeSet::new();
        for (index, port) in ports.iter().enumerate() {
            let errors = &mut *errors.at_index("spec.ports", index);
            port.check(ports.len() > 1, errors);
            if !port.name.is_empty() && !names.insert(&port.name) {
                errors.duplicate("name", &port.name);
            }
            port.check_numbers(errors);
        }
    }

    fn check_affinity(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        let config = self.spec.session_affinity_config.as_ref();
        match self.spec.session_affinity.as_str() {
            "" => errors.required("sessionAffinity", ""),
            "ClientIP" => check_client_ip(config, &mut errors.at("sessionAffinityConfig")),
            "None" if config.is_some() => {
                errors.forbidden("sessionAffinityConfig", "must not be set when session affinity is None");
            }
            "None" => {}
            other => errors.not_supported("sessionAffinity", other, &["ClientIP", "None"]),
        }
    }

    fn check_external_ips(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let known: BTreeSet<&String> = old.iter().flat_map(|old| &old.spec.external_ips).collect();
        for (index, address) in self.spec.external_ips.iter().enumerate() {
            let mut complaints = match known.contains(address) {
                true => Vec::new(),
                false => ip::check_legacy(address, errors.features()),
            };
            if complaints.is_empty() {
                complaints = ip::check_reachable(address);
            }
            for complaint in complaints {
                errors
                    .at_index("spec.externalIPs", index)
                    .invalid("", address, complaint);
            }
        }
    }

    /// Reports node ports that are not allowed, and duplicate ports.
    fn check_all_ports(&self, errors: &mut FieldErrors) {
        let ports = &self.spec.ports;
        let errors = &mut *errors.at("spec");
        if self.spec.type_ == CLUSTER_IP {
            for (index, _) in ports.iter().enumerate().filter(|(_, port)| port.node_port != 0) {
                let mut errors = errors.at_index("ports", index);
                errors.forbidden("nodePort", "may not be used when `type` is 'ClusterIP'");
            }
        }
        let mut node_ports = BTreeSet::new();
        for (index, port) in ports.iter().enumerate().filter(|(_, port)| port.node_port != 0) {
            if !node_ports.insert((&port.protocol, port.node_port)) {
                errors.at_index("ports", index).duplicate("nodePort", port.node_port);
            }
        }
        let mut numbers = BTreeSet::new();
        for (index, port) in ports.iter().enumerate() {
            if !numbers.insert((&port.protocol, port.port)) {
                let key = ServicePort {
                    protocol: port.protocol.clone(),
                    port: port.port,
                    ..ServicePort::default()
                };
                errors.at_index("ports", index).duplicate("", GoValue(&key));
            }
        }
    }

    fn check_source_ranges(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let ranges = &self.spec.load_balancer_source_ranges;
        if !ranges.is_empty() {
            // The path has the spelling of kube-apiserver, which differs from the JSON name.
            const FIELD: &str = "spec.LoadBalancerSourceRanges";
            if !self.is_load_balancer() {
                errors.forbidden(FIELD, ONLY_LOAD_BALANCER);
            }
            let known: BTreeSet<&String> = old
                .iter()
                .flat_map(|old| &old.spec.load_balancer_source_ranges)
                .collect();
            for (index, range) in ranges.iter().enumerate().filter(|(_, range)| !known.contains(range)) {
                // White space around a range is legal for compatibility with the annotation below.
                check_range(range.trim(), &mut errors.at_index(FIELD, index));
            }
        } else if let Some(text) = self.metadata.annotations.get(SOURCE_RANGES) {
            let known = old.and_then(|old| old.metadata.annotations.get(SOURCE_RANGES)) == Some(text);
            let errors = &mut *errors.at_key("metadata.annotations", SOURCE_RANGES);
            if !self.is_load_balancer() {
                errors.forbidden("", ONLY_LOAD_BALANCER);
            }
            if !text.trim().is_empty() && !known {
                for range in text.trim().split(',') {
                    check_range(range.trim(), errors);
                }
            }
        }
    }

    fn check_load_balancer_fields(&self, errors: &mut FieldErrors) {
        let allocates = self.spec.allocate_load_balancer_node_ports;
        match (self.is_load_balancer(), allocates) {
            (false, Some(_)) => errors.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_LOAD_BALANCER),
            (true, None) => errors.required("allocateLoadBalancerNodePorts", ""),
            _ => {}
        }
        self.check_load_balancer_class(errors);
    }

    /// Reports a load balancer class that is malformed or not allowed.
    pub(super) fn check_load_balancer_class(&self, errors: &mut FieldErrors) {
        let Some(class) = &self.spec.load_balancer_class else {
            return;
        };
        if !self.is_load_balancer() {
            errors.forbidden("spec.loadBalancerClass", ONLY_LOAD_BALANCER);
            return;
        }
        for complaint in names::qualified_name(class) {
            errors.invalid("spec.loadBalancerClass", class, complaint);
        }
    }

    fn check_traffic(&self, errors: &mut FieldErrors) {
        let spec = &self.spec;
        let errors = &mut *errors.at("spec");
        match (self.is_externally_accessible(), spec.external_traffic_policy.as_str()) {
            (false, "") => {}
            (false, policy) => {
                let complaint = "may only be set for externally-accessible services";
                errors.invalid("externalTrafficPolicy", policy, complaint);
            }
            (true, "") => errors.required("externalTrafficPolicy", ""),
            (true, policy) if !TRAFFIC_POLICIES.contains(&policy) => {
                errors.not_supported("externalTrafficPolicy", policy, &TRAFFIC_POLICIES);
            }
            (true, _) => {}
        }
        let health_check_port = spec.health_check_node_port;
        match (self.needs_health_check_port(), health_check_port) {
            (false, 0) => {}
            (false, port) => {
                let complaint = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
                errors.invalid("healthCheckNodePort", port, complaint);
            }
            (true, 0) => errors.required("healthCheckNodePort", ""),
            (true, port) => {
                for complaint in names::port_number(i64::from(port)) {
                    errors.invalid("healthCheckNodePort", port, complaint);
                }
            }
        }
        match spec.internal_traffic_policy.as_deref() {
            None if matches!(spec.type_.as_str(), NODE_PORT | LOAD_BALANCER | CLUSTER_IP) => {
                errors.required("internalTrafficPolicy", "");
            }
            Some(policy) if !TRAFFIC_POLICIES.contains(&policy) => {
                errors.not_supported("internalTrafficPolicy", policy, &TRAFFIC_POLICIES);
            }
            _ => {}
        }
        if let Some(distribution) = &spec.traffic_distribution
            && !DISTRIBUTIONS.contains(&distribution.as_str())
        {
            errors.not_supported_in_order("trafficDistribution", distribution.as_str(), &DISTRIBUTIONS);
        }
    }
}

fn check_range(range: &str, errors: &mut FieldErrors) {
    for complaint in ip::check_legacy_range(range, errors.features()) {
        errors.invalid("", range, complaint);
    }
}

fn check_client_ip(config: Option<&SessionAffinityConfig>, errors: &mut FieldErrors) {
    const NEEDED: &str = "when session affinity type is ClientIP";
    let Some(config) = config else {
        return errors.required("", NEEDED);
    };
    let Some(client) = &config.client_ip else {
        return errors.required("clientIP", NEEDED);
    };
    match client.timeout_seconds {
        None => errors.required("clientIP.timeoutSeconds", NEEDED),
        Some(seconds) if seconds <= 0 || seconds > MAX_AFFINITY_SECONDS => {
            let complaint = format!("must be greater than 0 and less than {MAX_AFFINITY_SECONDS}");
            errors.invalid("clientIP.timeoutSeconds", seconds, complaint);
        }
        Some(_) => {}
    }
}
