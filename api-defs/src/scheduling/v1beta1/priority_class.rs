//! How important pods are.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::rules::Rules;

/// How important pods are that name the class: pods of a higher value are scheduled first and may push out others.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "scheduling.k8s.io",
    version = "v1beta1",
    short("pc"),
    cluster,
    unserved,
    rules
)]
#[resource(storage_version = crate::scheduling::v1::PriorityClass)]
pub struct PriorityClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// How important pods of the class are; more is more important. Cannot change.
    #[field(proto = 2, keep, optional)]
    pub value: i32,
    /// Whether pods that name no class are of this one. At most one class should say so.
    #[field(proto = 3)]
    pub global_default: bool,
    /// When to use the class, for people.
    #[field(proto = 4)]
    pub description: String,
    /// Whether pods of the class push out less important ones: PreemptLowerPriority, which is the default, or Never.
    /// Cannot change.
    #[field(proto = 5, known("PreemptLowerPriority", "Never"), go_type = "v1.PreemptionPolicy")]
    pub preemption_policy: Option<String>,
}

impl Rules for PriorityClass {
    fn default_values(&mut self) {
        self.preemption_policy
            .get_or_insert_with(|| "PreemptLowerPriority".to_owned());
    }
}
