//! Stateful sets, as in v1.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::apps::v1::{StatefulSetSpec, StatefulSetStatus};

/// Runs pods with stable names and storage, as in the newest version.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apps",
    version = "v1beta2",
    short("sts"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    name_rule = dns_label,
    unserved,
    storage_version = crate::apps::v1::StatefulSet,
    strategy
)]
pub struct StatefulSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: StatefulSetSpec,
    /// Observed state, written by the controller.
    #[field(proto = 3)]
    pub status: StatefulSetStatus,
}

impl Strategy for StatefulSet {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
