//! Limits on voluntary disruptions of an application's pods.

use std::collections::BTreeMap;

use planesmith_machinery::int_or_string::IntOrString;
use planesmith_machinery::meta::{Condition, LabelSelector, ObjectMeta};
use planesmith_machinery::resource::Convert;
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use crate::policy::v1;
use crate::policy::v1::Everything;

/// Limits the number of an application's pods that evictions make unavailable at the same time.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "policy",
    version = "v1beta1",
    short("pdb"),
    status,
    generation,
    conditional_update,
    storage_version = v1::PodDisruptionBudget,
    convert,
    unserved
)]
pub struct PodDisruptionBudget {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The protected pods and the number of them that must stay available.
    #[field(proto = 2)]
    pub spec: PodDisruptionBudgetSpec,
    /// Number of evictions that are currently allowed.
    #[field(proto = 3)]
    pub status: PodDisruptionBudgetStatus,
}

/// The pods that a budget protects and the number of them that must stay available.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetSpec {
    /// Number of pods that must still be available after an eviction.
    #[field(proto = 1)]
    pub min_available: Option<IntOrString>,
    /// Labels of the protected pods; no pods when absent or empty.
    #[field(proto = 2)]
    pub selector: Option<LabelSelector>,
    /// Maximum number of unavailable pods after an eviction.
    #[field(proto = 3)]
    pub max_unavailable: Option<IntOrString>,
    /// Policy for evicting running pods that are not ready: IfHealthyBudget or AlwaysAllow.
    #[field(
        proto = 4,
        known("AlwaysAllow", "IfHealthyBudget"),
        go_type = "UnhealthyPodEvictionPolicyType"
    )]
    pub unhealthy_pod_eviction_policy: Option<String>,
}

/// Number of evictions that a budget currently allows.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodDisruptionBudgetStatus {
    /// Generation of the budget that the status describes.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Pods whose eviction was granted but that still exist, with the time of the eviction.
    #[field(proto = 2)]
    pub disrupted_pods: BTreeMap<String, Time>,
    /// Number of evictions that are currently allowed.
    #[field(proto = 3, keep, optional)]
    pub disruptions_allowed: i32,
    /// Number of healthy pods.
    #[field(proto = 4, keep, optional)]
    pub current_healthy: i32,
    /// Number of pods that must be healthy.
    #[field(proto = 5, keep, optional)]
    pub desired_healthy: i32,
    /// Number of pods that the budget protects.
    #[field(proto = 6, keep, optional)]
    pub expected_pods: i32,
    /// Conditions of the budget.
    #[field(proto = 7, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
}

impl Convert<v1::PodDisruptionBudget> for PodDisruptionBudget {
    fn finish_to_hub(&self, hub: &mut v1::PodDisruptionBudget) {
        hub.spec.selector = self
            .spec
            .selector
            .as_ref()
            .map(|selector| Everything::V1beta1.translated(selector));
    }

    fn finish_from_hub(&mut self, hub: &v1::PodDisruptionBudget) {
        self.spec.selector = hub
            .spec
            .selector
            .as_ref()
            .map(|selector| Everything::V1.translated(selector));
    }
}
