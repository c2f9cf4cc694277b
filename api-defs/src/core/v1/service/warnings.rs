//! Warnings about services.

use planesmith_machinery::ip;

use super::{EXTERNAL_NAME, NONE, Service};

const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const MODE: &str = "service.kubernetes.io/topology-mode";

impl Service {
    pub(super) fn warnings_of_spec(&self) -> Vec<String> {
        let spec = &self.spec;
        let mut warnings = Vec::new();
        if self.metadata.annotations.contains_key(HINTS) {
            warnings.push(format!("annotation {HINTS} is deprecated, please use {MODE} instead"));
        }
        if !self.is_external_name() && !matches!(spec.cluster_ip.as_str(), "" | NONE) {
            for (index, address) in spec.cluster_ips.iter().enumerate() {
                warnings.extend(ip::warnings(&format!("spec.clusterIPs[{index}]"), address));
            }
        }
        let headless = spec.type_ == super::CLUSTER_IP && spec.cluster_ip == NONE;
        if headless {
            let ignored = [
                (!spec.load_balancer_ip.is_empty(), "loadBalancerIP"),
                (!spec.external_ips.is_empty(), "externalIPs"),
                (spec.session_affinity != "None", "SessionAffinity"),
            ];
            let ignored = ignored.into_iter().filter(|(set, _)| *set);
            warnings.extend(ignored.map(|(_, field)| format!("spec.{field} is ignored for headless services")));
        }
        for (index, address) in spec.external_ips.iter().enumerate() {
            warnings.extend(ip::warnings(&format!("spec.externalIPs[{index}]"), address));
        }
        let has_external_ips = !spec.external_ips.is_empty();
        if has_external_ips && !headless && !self.is_external_name() {
            warnings
                .push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
        }
        warnings.extend(ip::warnings("spec.loadBalancerIP", &spec.load_balancer_ip));
        for (index, range) in spec.load_balancer_source_ranges.iter().enumerate() {
            warnings.extend(ip::range_warnings(
                &format!("spec.loadBalancerSourceRanges[{index}]"),
                range,
            ));
        }
        if self.is_external_name() && has_external_ips {
            warnings.push(format!(
                "spec.externalIPs is ignored when spec.type is \"{EXTERNAL_NAME}\""
            ));
        }
        if !self.is_external_name() && !spec.external_name.is_empty() {
            warnings.push(format!(
                "spec.externalName is ignored when spec.type is not \"{EXTERNAL_NAME}\""
            ));
        }
        if spec.traffic_distribution.as_deref() == Some("PreferClose") {
            warnings.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
        }
        warnings
    }
}
