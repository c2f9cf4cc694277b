//! The usage of services.

use planesmith_api_defs::core::v1::{ResourceList, Service};

use super::evaluator::number;

const COUNTED: [&str; 4] = [
    "count/services",
    "services",
    "services.loadbalancers",
    "services.nodeports",
];

pub(super) fn counts(name: &str) -> bool {
    COUNTED.contains(&name)
}

/// Returns the usage of a service. Node ports count where they are allocated, or requested.
pub(super) fn usage(service: &Service) -> ResourceList {
    let spec = &service.spec;
    let all = || spec.ports.len();
    let asked_for = || spec.ports.iter().filter(|port| port.node_port != 0).count();
    let (balancers, ports) = match spec.type_.as_str() {
        "NodePort" => (0, all()),
        "LoadBalancer" if spec.allocate_load_balancer_node_ports == Some(false) => (1, asked_for()),
        "LoadBalancer" => (1, all()),
        _ => (0, 0),
    };
    let amounts = [1, 1, balancers, i64::try_from(ports).unwrap_or(i64::MAX)];
    let named = COUNTED.iter().zip(amounts);
    named
        .map(|(name, amount)| ((*name).to_owned(), number(amount)))
        .collect()
}
