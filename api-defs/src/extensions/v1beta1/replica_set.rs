//! Replica sets in their first version, which take the default selector from the template.

use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::apps::v1;
use crate::apps::v1::ReplicaSetStatus;
use crate::core::v1::PodTemplateSpec;
use crate::core::v1::workload::old_labels::{default_from_template, keeps_labels};

/// Runs a number of equal pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "extensions",
    version = "v1beta1",
    short("rs"),
    categories("all"),
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    unserved,
    storage_version = v1::ReplicaSet,
    convert,
    strategy
)]
pub struct ReplicaSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: ReplicaSetSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: ReplicaSetStatus,
}

/// Desired state of a replica set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicaSetSpec {
    /// Desired number of pods.
    #[field(proto = 1)]
    pub replicas: Option<i32>,
    /// Minimum time in seconds that a new pod must be ready to count as available.
    #[field(proto = 4)]
    pub min_ready_seconds: i32,
    /// Labels of the pods that belong to the set. The labels of the template when absent.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
    /// Template of new pods.
    #[field(proto = 3)]
    pub template: PodTemplateSpec,
}

impl Strategy for ReplicaSet {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        default_from_template(&spec.template.metadata.labels, &mut self.metadata, &mut spec.selector);
        spec.replicas.get_or_insert(1);
        spec.template.set_defaults();
    }
}

impl Convert<v1::ReplicaSet> for ReplicaSet {
    fn finish_to_hub(&self, _hub: &mut v1::ReplicaSet) {}

    fn finish_from_hub(&mut self, _hub: &v1::ReplicaSet) {}

    fn can_hold(hub: &v1::ReplicaSet) -> bool {
        keeps_labels(&hub.metadata, &hub.spec.template)
    }
}
