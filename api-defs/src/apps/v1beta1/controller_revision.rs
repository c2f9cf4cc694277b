//! Controller revisions, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::raw::RawExtension;

/// A snapshot of a controller's state, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta1",
    unserved,
    storage_version = crate::apps::v1::ControllerRevision
)]
pub struct ControllerRevision {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// State in the format of the controller.
    #[field(proto = 2)]
    pub data: RawExtension,
    /// Number of the revision. The highest one is the current state.
    #[field(proto = 3, keep)]
    pub revision: i64,
}
