//! Table columns of ingresses.

use std::collections::BTreeSet;

use planesmith_machinery::table::Cell;

use super::Ingress;
use crate::core::v1::service::first_filled;

/// Maximum number of hosts that a cell lists. The rest is counted.
const MAX_HOSTS: usize = 3;

pub(super) fn class(ingress: &Ingress) -> Cell {
    let class = ingress.spec.ingress_class_name.clone();
    Cell::Text(class.unwrap_or_else(|| "<none>".to_owned()))
}

pub(super) fn hosts(ingress: &Ingress) -> Cell {
    let rules = &ingress.spec.rules;
    let hosts: Vec<&str> = rules
        .iter()
        .map(|rule| rule.host.as_str())
        .filter(|host| !host.is_empty())
        .collect();
    if hosts.is_empty() {
        return Cell::Text("*".to_owned());
    }
    let mut text = hosts[..hosts.len().min(MAX_HOSTS)].join(",");
    let full = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| !rule.host.is_empty())
        .nth(MAX_HOSTS - 1);
    // Rules after the last rendered host are counted, with or without a host of their own.
    if full.is_some_and(|(last, _)| last + 1 < rules.len()) {
        text.push_str(&format!(" + {} more...", rules.len() - MAX_HOSTS));
    }
    Cell::Text(text)
}

pub(super) fn address(ingress: &Ingress) -> Cell {
    let points = ingress.status.load_balancer.ingress.iter();
    let addresses: BTreeSet<&str> = points
        .filter_map(|point| first_filled(&point.ip, &point.hostname))
        .collect();
    Cell::Text(addresses.into_iter().collect::<Vec<_>>().join(","))
}

pub(super) fn ports(ingress: &Ingress) -> Cell {
    Cell::Text(if ingress.spec.tls.is_empty() { "80" } else { "80, 443" }.to_owned())
}
