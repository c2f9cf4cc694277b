//! Replica sets, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::apps::v1::{ReplicaSetSpec, ReplicaSetStatus};

/// Runs a number of equal pods, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta2",
    short("rs"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    unserved,
    storage_version = crate::apps::v1::ReplicaSet,
    strategy
)]
pub struct ReplicaSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: ReplicaSetSpec,
    /// Observed state, written by the controller.
    #[field(proto = 3)]
    pub status: ReplicaSetStatus,
}

impl Strategy for ReplicaSet {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
