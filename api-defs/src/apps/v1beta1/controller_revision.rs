//! Earlier states that controllers keep: the newest ones under another name.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::raw::RawExtension;

/// Keeps an earlier state of what a controller manages, as in the newest version.
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
    /// The state, in the words of the controller.
    #[field(proto = 2)]
    pub data: RawExtension,
    /// Its number; the highest is the present state.
    #[field(proto = 3, keep)]
    pub revision: i64,
}
