//! The status of a pod as a separate kind.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use super::PodStatus;

/// The status of a pod as a separate object.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", unserved)]
pub struct PodStatusResult {
    /// Metadata of the pod.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Observed state.
    #[field(proto = 2)]
    pub status: PodStatus,
}
