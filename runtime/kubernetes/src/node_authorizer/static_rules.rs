//! The permissions of all nodes that do not depend on their pods.

/// Verbs, groups and resources. Resources with rules of their own are not listed.
const RULES: [(&[&str], &[&str], &[&str]); 8] = [
    (&["create"], &["authentication.k8s.io"], &["tokenreviews"]),
    (
        &["create"],
        &["authorization.k8s.io"],
        &["localsubjectaccessreviews", "subjectaccessreviews"],
    ),
    (READ_VERBS, &[""], &["services"]),
    (&["get"], &[""], &["endpoints"]),
    (&["create", "patch", "update"], &["", "events.k8s.io"], &["events"]),
    (
        &["create", "get", "list", "watch"],
        &["certificates.k8s.io"],
        &["certificatesigningrequests"],
    ),
    (READ_VERBS, &["storage.k8s.io"], &["csidrivers"]),
    (READ_VERBS, &["node.k8s.io"], &["runtimeclasses"]),
];

const READ_VERBS: &[&str] = &["get", "list", "watch"];

/// True if every node may do this.
pub(super) fn allow(verb: &str, group: &str, resource: &str, subresource: &str) -> bool {
    subresource.is_empty()
        && RULES.iter().any(|(verbs, groups, resources)| {
            verbs.contains(&verb) && groups.contains(&group) && resources.contains(&resource)
        })
}
