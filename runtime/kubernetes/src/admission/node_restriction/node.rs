//! Nodes: a node writes only itself, and nothing that attracts pods.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_access::admission::Operation;
use planesmith_api_defs::core::v1::Node;
use planesmith_machinery::go_format::quote;

use super::{Refusal, Write, forbid};

/// Labels below this domain are set by administrators, who rely on them to isolate nodes.
const RESTRICTED: &str = "node-restriction.kubernetes.io";

/// Labels of Kubernetes that a kubelet sets.
const KUBELET_LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];

/// Domains of labels that a kubelet sets.
const KUBELET_DOMAINS: [&str; 2] = ["kubelet.kubernetes.io", "node.kubernetes.io"];

type Labels = BTreeMap<String, String>;

pub(super) fn check(write: Write<'_>) -> Result<(), Refusal> {
    let name = match write.attributes.name {
        "" => write.name(),
        name => name,
    };
    let own = quote(write.node);
    if name != write.node {
        return forbid(format!("node {own} is not allowed to modify node {}", quote(name)));
    }
    let new = write.new_as::<Node>();
    match (write.operation(), new, write.old_as::<Node>()) {
        (Operation::Create, Some(new), _) => {
            if new.spec.config_source.is_some() {
                return forbid(format!(
                    "node {own} is not allowed to create pods with a non-nil configSource"
                ));
            }
            let labels = forbidden_labels(&new.metadata.labels, &Labels::new());
            if !labels.is_empty() {
                return forbid(format!(
                    "node {own} is not allowed to set the following labels: {labels}"
                ));
            }
            Ok(())
        }
        (Operation::Update, Some(new), Some(old)) => {
            if new.spec.config_source.is_some() && new.spec.config_source != old.spec.config_source {
                return forbid(format!(
                    "node {own} is not allowed to update configSource to a new non-nil configSource"
                ));
            }
            if new.spec.taints != old.spec.taints {
                return forbid(format!("node {own} is not allowed to modify taints"));
            }
            if new.metadata.owner_references != old.metadata.owner_references {
                return forbid(format!("node {own} is not allowed to modify ownerReferences"));
            }
            let labels = forbidden_labels(&new.metadata.labels, &old.metadata.labels);
            if !labels.is_empty() {
                return forbid(format!("is not allowed to modify labels: {labels}"));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the changed labels that a node may not change, joined.
fn forbidden_labels(new: &Labels, old: &Labels) -> String {
    let keys: BTreeSet<&str> = new.keys().chain(old.keys()).map(String::as_str).collect();
    let changed = keys.into_iter().filter(|key| new.get(*key) != old.get(*key));
    let forbidden: Vec<&str> = changed.filter(|key| is_forbidden(key)).collect();
    forbidden.join(", ")
}

fn is_forbidden(label: &str) -> bool {
    let domain = label.split_once('/').map_or("", |(domain, _)| domain);
    let is_below = |of: &str| domain == of || domain.strip_suffix(of).is_some_and(|start| start.ends_with('.'));
    let is_kubelet = || KUBELET_LABELS.contains(&label) || KUBELET_DOMAINS.into_iter().any(is_below);
    let is_kubernetes = is_below("kubernetes.io") || is_below("k8s.io");
    is_below(RESTRICTED) || (is_kubernetes && !is_kubelet())
}
