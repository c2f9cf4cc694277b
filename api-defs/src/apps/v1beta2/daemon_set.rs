//! Daemon sets, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::apps::v1::{DaemonSetSpec, DaemonSetStatus, set_template_generation, template_generation};

/// Runs one pod on each matching node, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta2",
    short("ds"),
    categories("all"),
    status,
    unserved,
    storage_version = crate::apps::v1::DaemonSet,
    strategy
)]
pub struct DaemonSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: DaemonSetSpec,
    /// Observed state, written by the controller.
    #[field(proto = 3)]
    pub status: DaemonSetStatus,
}

impl Strategy for DaemonSet {
    fn set_defaults(&mut self) {
        let generation = template_generation(&self.metadata);
        set_template_generation(&mut self.metadata, generation);
        self.spec.set_defaults();
    }
}
