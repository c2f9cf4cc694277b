//! The status of a pod alone.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;

use super::PodStatus;

/// A pod of which only the status is known.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "", version = "v1", unserved)]
pub struct PodStatusResult {
    /// Metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Observed state.
    #[field(proto = 2)]
    pub status: PodStatus,
}
