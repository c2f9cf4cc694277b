//! Features of Kubernetes that decide what some of the kinds take.

use planesmith_machinery::feature::Feature;

/// All of them.
pub static ALL: [&Feature; 6] = [
    &COORDINATED_LEADER_ELECTION,
    &CROSS_NAMESPACE_VOLUME_DATA_SOURCE,
    &DRA_LIST_TYPE_ATTRIBUTES,
    &HPA_SCALE_TO_ZERO,
    &MAX_UNAVAILABLE_STATEFUL_SET,
    &VOLUME_LIMIT_SCALING,
];

/// Leases say how their leader is elected.
pub(crate) static COORDINATED_LEADER_ELECTION: Feature = Feature::off("CoordinatedLeaderElection");
/// Claims are filled from sources in other namespaces.
pub(crate) static CROSS_NAMESPACE_VOLUME_DATA_SOURCE: Feature = Feature::off("CrossNamespaceVolumeDataSource");
/// Devices have attributes with several values.
pub(crate) static DRA_LIST_TYPE_ATTRIBUTES: Feature = Feature::off("DRAListTypeAttributes");
/// Autoscalers go down to no replicas.
pub(crate) static HPA_SCALE_TO_ZERO: Feature = Feature::off("HPAScaleToZero");
/// Stateful sets replace several pods at once.
pub(crate) static MAX_UNAVAILABLE_STATEFUL_SET: Feature = Feature::off("MaxUnavailableStatefulSet");
/// Drivers keep pods from nodes where they are missing.
pub(crate) static VOLUME_LIMIT_SCALING: Feature = Feature::off("VolumeLimitScaling");
