//! Observed state of ingresses.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::{Struct, ip};

use crate::core::v1::service::check_balancer_hostname;

/// Observed state of an ingress.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressStatus {
    /// Ingress points of the load balancer.
    #[field(proto = 1)]
    pub load_balancer: IngressLoadBalancerStatus,
}

/// Ingress points of a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressLoadBalancerStatus {
    /// Ingress points for requests.
    #[field(proto = 1, list_type = atomic)]
    pub ingress: Vec<IngressLoadBalancerIngress>,
}

/// An ingress point for requests: an address or a host name.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressLoadBalancerIngress {
    /// IP address. Empty when there is a host name only.
    #[field(proto = 1)]
    pub ip: String,
    /// Host name. Empty when there is an address only.
    #[field(proto = 2)]
    pub hostname: String,
    /// Status of the ports.
    #[field(proto = 4, list_type = atomic)]
    pub ports: Vec<IngressPortStatus>,
}

/// Observed state of a port at a load balancer.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct IngressPortStatus {
    /// Number of the load balancer's port.
    #[field(proto = 1, keep)]
    pub port: i32,
    /// Protocol of the port: TCP, UDP or SCTP.
    #[field(proto = 2, keep, known("TCP", "UDP", "SCTP"), go_type = "v1.Protocol")]
    pub protocol: String,
    /// Reason why the port is not open: a CamelCase name, with a prefix such as example.com/ unless Kubernetes defines
    /// it.
    #[field(proto = 3)]
    pub error: Option<String>,
}

impl IngressLoadBalancerStatus {
    /// Reports errors. Addresses that `old` contains are tolerated.
    pub(super) fn check(&self, old: &Self, errors: &mut FieldErrors) {
        let known: BTreeSet<&String> = old.ingress.iter().map(|point| &point.ip).collect();
        for (index, point) in self.ingress.iter().enumerate() {
            let errors = &mut *errors.at_index("ingress", index);
            if !point.ip.is_empty() && !known.contains(&point.ip) {
                for complaint in ip::check_legacy(&point.ip, errors.features()) {
                    errors.invalid("ip", &point.ip, complaint);
                }
            }
            check_balancer_hostname(&point.hostname, errors);
        }
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let points = self.ingress.iter().enumerate();
        let warnings = points.filter(|(_, point)| !point.ip.is_empty());
        warnings
            .flat_map(|(index, point)| ip::warnings(&format!("status.loadBalancer.ingress[{index}]"), &point.ip))
            .collect()
    }
}
