//! The priorities of Kubernetes' group versions in lists.

use planesmith_server::discovery::VersionPriority;

/// Group, version, priority of the group, and priority of the version in it: kube-apiserver's numbers.
const PRIORITIES: [(&str, &str, i32, i32); 43] = [
    ("apiregistration.k8s.io", "v1", 20_000, 20),
    ("", "v1", 18_000, 1),
    ("apps", "v1", 17_800, 15),
    ("events.k8s.io", "v1", 17_750, 15),
    ("events.k8s.io", "v1beta1", 17_750, 5),
    ("authentication.k8s.io", "v1", 17_700, 15),
    ("authentication.k8s.io", "v1beta1", 17_700, 9),
    ("authentication.k8s.io", "v1alpha1", 17_700, 1),
    ("authorization.k8s.io", "v1", 17_600, 15),
    ("autoscaling", "v2", 17_500, 30),
    ("autoscaling", "v1", 17_500, 15),
    ("batch", "v1", 17_400, 15),
    ("batch", "v1beta1", 17_400, 9),
    ("certificates.k8s.io", "v1", 17_300, 15),
    ("certificates.k8s.io", "v1beta1", 17_300, 9),
    ("certificates.k8s.io", "v1alpha1", 17_300, 1),
    ("networking.k8s.io", "v1", 17_200, 15),
    ("networking.k8s.io", "v1beta1", 17_200, 9),
    ("policy", "v1", 17_100, 15),
    ("rbac.authorization.k8s.io", "v1", 17_000, 15),
    ("storage.k8s.io", "v1", 16_800, 15),
    ("storage.k8s.io", "v1beta1", 16_800, 9),
    ("storage.k8s.io", "v1alpha1", 16_800, 1),
    ("apiextensions.k8s.io", "v1", 16_700, 15),
    ("admissionregistration.k8s.io", "v1", 16_700, 15),
    ("admissionregistration.k8s.io", "v1beta1", 16_700, 12),
    ("admissionregistration.k8s.io", "v1alpha1", 16_700, 9),
    ("scheduling.k8s.io", "v1", 16_600, 15),
    ("scheduling.k8s.io", "v1alpha2", 16_600, 1),
    ("coordination.k8s.io", "v1", 16_500, 15),
    ("coordination.k8s.io", "v1beta1", 16_500, 13),
    ("coordination.k8s.io", "v1alpha2", 16_500, 12),
    ("node.k8s.io", "v1", 16_300, 15),
    ("discovery.k8s.io", "v1", 16_200, 15),
    ("discovery.k8s.io", "v1beta1", 16_200, 12),
    ("resource.k8s.io", "v1", 16_200, 21),
    ("resource.k8s.io", "v1beta2", 16_200, 15),
    ("resource.k8s.io", "v1beta1", 16_200, 9),
    ("resource.k8s.io", "v1alpha3", 16_200, 1),
    ("flowcontrol.apiserver.k8s.io", "v1", 16_100, 21),
    ("flowcontrol.apiserver.k8s.io", "v1beta3", 16_100, 18),
    ("internal.apiserver.k8s.io", "v1alpha1", 16_000, 9),
    ("storagemigration.k8s.io", "v1beta1", 15_800, 9),
];

/// The priorities of groups of custom resources, and of groups that are not Kubernetes'.
const CUSTOM: (i32, i32) = (1000, 100);

/// Returns the priorities in the form of the server's configuration.
#[must_use]
pub fn priorities() -> Vec<VersionPriority> {
    let places = PRIORITIES
        .iter()
        .map(|(group, version, group_priority, version_priority)| VersionPriority {
            group: (*group).to_owned(),
            version: (*version).to_owned(),
            group_priority: *group_priority,
            version_priority: *version_priority,
        });
    places.collect()
}

/// Returns the priorities of a group version: of the group, and of the version in it.
#[must_use]
pub fn place(group: &str, version: &str) -> (i32, i32) {
    let found = PRIORITIES.iter().find(|place| (place.0, place.1) == (group, version));
    found.map_or(CUSTOM, |place| (place.2, place.3))
}
