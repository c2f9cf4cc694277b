//! Table columns of nodes.

use std::collections::BTreeSet;

use planesmith_machinery::table::Cell;

use super::Node;

/// Prefix of labels whose suffix is a role.
const ROLE_PREFIX: &str = "node-role.kubernetes.io/";

/// Label whose value is a role.
const ROLE: &str = "kubernetes.io/role";

pub(super) fn status(node: &Node) -> Cell {
    let ready = node
        .status
        .conditions
        .iter()
        .rfind(|condition| condition.type_ == "Ready");
    let mut text = match ready {
        None => "Unknown",
        Some(condition) if condition.status == "True" => "Ready",
        Some(_) => "NotReady",
    }
    .to_owned();
    if node.spec.unschedulable {
        text.push_str(",SchedulingDisabled");
    }
    Cell::Text(text)
}

pub(super) fn roles(node: &Node) -> Cell {
    let role = |(label, value): (&'_ String, &'_ String)| match label.strip_prefix(ROLE_PREFIX) {
        Some(role) => Some(role.to_owned()),
        None => (label == ROLE).then(|| value.clone()),
    };
    let roles = node
        .metadata
        .labels
        .iter()
        .filter_map(role)
        .filter(|role| !role.is_empty());
    let roles: Vec<String> = roles.collect::<BTreeSet<_>>().into_iter().collect();
    text_or(&roles.join(","), "<none>")
}

pub(super) fn internal_ip(node: &Node) -> Cell {
    address(node, "InternalIP")
}

pub(super) fn external_ip(node: &Node) -> Cell {
    address(node, "ExternalIP")
}

pub(super) fn os_image(node: &Node) -> Cell {
    text_or(&node.status.node_info.os_image, "<unknown>")
}

pub(super) fn kernel_version(node: &Node) -> Cell {
    let info = &node.status.node_info;
    match (info.kernel_version.as_str(), info.architecture.as_str()) {
        ("", _) | (_, "") => text_or(&info.kernel_version, "<unknown>"),
        (kernel, architecture) => Cell::Text(format!("{kernel} ({architecture})")),
    }
}

pub(super) fn container_runtime(node: &Node) -> Cell {
    text_or(&node.status.node_info.container_runtime_version, "<unknown>")
}

fn address(node: &Node, type_: &str) -> Cell {
    let found = node.status.addresses.iter().find(|address| address.type_ == type_);
    text_or(found.map_or("", |address| &address.address), "<none>")
}

fn text_or(text: &str, otherwise: &str) -> Cell {
    Cell::Text(if text.is_empty() { otherwise } else { text }.to_owned())
}
