//! Daemon sets in their first version, with a field that counts template changes and replacement on deletion only.

use planesmith_machinery::meta::{LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::apps::v1;
use crate::apps::v1::{
    DaemonSetStatus, DaemonSetUpdateStrategy, TEMPLATE_GENERATION, set_template_generation, template_generation,
};
use crate::core::v1::PodTemplateSpec;
use crate::core::v1::workload::old_labels::{default_from_template, keeps_labels};

/// Runs one pod on each matching node.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "extensions",
    version = "v1beta1",
    short("ds"),
    categories("all"),
    status,
    unserved,
    storage_version = v1::DaemonSet,
    convert,
    strategy
)]
pub struct DaemonSet {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired state.
    #[field(proto = 2)]
    pub spec: DaemonSetSpec,
    /// Observed state, as numbers of nodes.
    #[field(proto = 3)]
    pub status: DaemonSetStatus,
}

/// Desired state of a daemon set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonSetSpec {
    /// Labels of the pods that belong to the set. The labels of the template when absent.
    #[field(proto = 1)]
    pub selector: Option<LabelSelector>,
    /// Template of the pods.
    #[field(proto = 2, keep)]
    pub template: PodTemplateSpec,
    /// Strategy to replace pods after the template changed.
    #[field(proto = 3)]
    pub update_strategy: DaemonSetUpdateStrategy,
    /// Minimum time in seconds that a new pod must be ready to count as available.
    #[field(proto = 4)]
    pub min_ready_seconds: i32,
    /// Number of changes of the template, counted by the server.
    #[field(proto = 5)]
    pub template_generation: i64,
    /// Number of old revisions that are kept.
    #[field(proto = 6)]
    pub revision_history_limit: Option<i32>,
}

impl Strategy for DaemonSet {
    fn set_defaults(&mut self) {
        let spec = &mut self.spec;
        default_from_template(&spec.template.metadata.labels, &mut self.metadata, &mut spec.selector);
        spec.update_strategy.set_defaults("OnDelete");
        spec.revision_history_limit.get_or_insert(10);
        spec.template.set_defaults();
    }
}

impl Convert<v1::DaemonSet> for DaemonSet {
    fn finish_to_hub(&self, hub: &mut v1::DaemonSet) {
        set_template_generation(&mut hub.metadata, self.spec.template_generation);
    }

    fn finish_from_hub(&mut self, hub: &v1::DaemonSet) {
        self.spec.template_generation = template_generation(&hub.metadata);
        self.metadata.annotations.remove(TEMPLATE_GENERATION);
    }

    fn can_hold(hub: &v1::DaemonSet) -> bool {
        keeps_labels(&hub.metadata, &hub.spec.template)
    }
}
