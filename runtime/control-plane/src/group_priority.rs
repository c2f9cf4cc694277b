//! In which order discovery lists the groups of Kubernetes, most wanted first.

/// kube-apiserver's numbers; a group that is not here has 1,000, as those of custom resources.
const PRIORITIES: [(&str, i32); 22] = [
    ("apiregistration.k8s.io", 20_000),
    ("apps", 17_800),
    ("events.k8s.io", 17_750),
    ("authentication.k8s.io", 17_700),
    ("authorization.k8s.io", 17_600),
    ("autoscaling", 17_500),
    ("batch", 17_400),
    ("certificates.k8s.io", 17_300),
    ("networking.k8s.io", 17_200),
    ("policy", 17_100),
    ("rbac.authorization.k8s.io", 17_000),
    ("storage.k8s.io", 16_800),
    ("admissionregistration.k8s.io", 16_700),
    ("apiextensions.k8s.io", 16_700),
    ("scheduling.k8s.io", 16_600),
    ("coordination.k8s.io", 16_500),
    ("node.k8s.io", 16_300),
    ("discovery.k8s.io", 16_200),
    ("resource.k8s.io", 16_200),
    ("flowcontrol.apiserver.k8s.io", 16_100),
    ("internal.apiserver.k8s.io", 16_000),
    ("storagemigration.k8s.io", 15_900),
];

/// The priorities as the server's configuration takes them.
pub(crate) fn group_priorities() -> Vec<(String, i32)> {
    PRIORITIES
        .iter()
        .map(|(group, priority)| ((*group).to_owned(), *priority))
        .collect()
}
