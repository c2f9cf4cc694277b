//! Priorities of pods.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

/// Priority of the pods that name the class. Pods with a higher value are scheduled first and may preempt others.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "scheduling.k8s.io",
    version = "v1beta1",
    short("pc"),
    cluster,
    unserved,
    strategy
)]
#[resource(storage_version = crate::scheduling::v1::PriorityClass)]
pub struct PriorityClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Priority of the pods of the class; higher values are more important. Immutable.
    #[field(proto = 2, keep, optional)]
    pub value: i32,
    /// True if pods that name no class belong to this one. At most one class should have the value true.
    #[field(proto = 3)]
    pub global_default: bool,
    /// Human-readable description of the intended use of the class.
    #[field(proto = 4)]
    pub description: String,
    /// Preemption by pods of the class: PreemptLowerPriority (the default) or Never. Immutable.
    #[field(proto = 5, known("PreemptLowerPriority", "Never"), go_type = "v1.PreemptionPolicy")]
    pub preemption_policy: Option<String>,
}

impl Strategy for PriorityClass {
    fn set_defaults(&mut self) {
        self.preemption_policy
            .get_or_insert_with(|| "PreemptLowerPriority".to_owned());
    }
}
