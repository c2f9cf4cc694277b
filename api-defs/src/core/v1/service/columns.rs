//! Table columns of services.

use std::collections::BTreeSet;

use planesmith_machinery::table::Cell;

use super::{CLUSTER_IP, EXTERNAL_NAME, LOAD_BALANCER, NODE_PORT, Service};
use crate::selector_text::labels_text;

pub(super) fn cluster_ip(service: &Service) -> Cell {
    text_or_none(service.spec.cluster_ips.first().cloned().unwrap_or_default())
}

pub(super) fn external_ip(service: &Service) -> Cell {
    let given = &service.spec.external_ips;
    match service.spec.type_.as_str() {
        CLUSTER_IP | NODE_PORT => text_or_none(given.join(",")),
        LOAD_BALANCER => {
            let ingress = service.status.load_balancer.ingress.iter();
            let entries: BTreeSet<&str> = ingress
                .filter_map(|point| first_filled(&point.ip, &point.hostname))
                .collect();
            let all: Vec<&str> = entries.into_iter().chain(given.iter().map(String::as_str)).collect();
            Cell::Text(if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all.join(",")
            })
        }
        EXTERNAL_NAME => Cell::Text(service.spec.external_name.clone()),
        _ => Cell::Text("<unknown>".to_owned()),
    }
}

/// Returns the first text that is not empty.
pub(crate) fn first_filled<'t>(first: &'t str, second: &'t str) -> Option<&'t str> {
    [first, second].into_iter().find(|text| !text.is_empty())
}

pub(super) fn ports(service: &Service) -> Cell {
    let ports = service.spec.ports.iter().map(|port| match port.node_port {
        0 => format!("{}/{}", port.port, port.protocol),
        node_port => format!("{}:{node_port}/{}", port.port, port.protocol),
    });
    text_or_none(ports.collect::<Vec<_>>().join(","))
}

pub(super) fn selector(service: &Service) -> Cell {
    Cell::Text(labels_text(&service.spec.selector))
}

fn text_or_none(text: String) -> Cell {
    Cell::Text(if text.is_empty() { "<none>".to_owned() } else { text })
}
