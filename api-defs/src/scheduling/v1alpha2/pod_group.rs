//! Groups of pods that are scheduled together.

mod columns;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::Condition;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::{Resource, Struct};

use super::scheduling_policy::check_claims;

use super::PodGroupResourceClaim;
use super::PodGroupSchedulingConstraints;
use super::PodGroupSchedulingPolicy;

/// A group of pods that are scheduled together. Alpha feature.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "scheduling.k8s.io",
    version = "v1alpha2",
    feature = crate::features::GENERIC_WORKLOAD,
    status,
    status_resets("metadata"),
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Policy", type = "string", doc = "Scheduling policy of the pods.", with = columns::policy),
    column(name = "Workload", type = "string", doc = "The workload that it belongs to.", with = columns::workload),
    column(name = "Status", type = "string", doc = "Current state.", with = columns::status),
    column(age)
)]
pub struct PodGroup {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Scheduling policy of the pods.
    #[field(proto = 2, keep)]
    pub spec: PodGroupSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: PodGroupStatus,
}

/// Scheduling policy of a group of pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupSpec {
    /// Template that the group was created from. Immutable.
    #[field(proto = 1, keep, optional)]
    pub pod_group_template_ref: Option<PodGroupTemplateReference>,
    /// Scheduling of the pods: one by one or all together. Immutable.
    #[field(proto = 2, keep)]
    pub scheduling_policy: PodGroupSchedulingPolicy,
    /// Constraints on all pods of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 3)]
    pub scheduling_constraints: Option<PodGroupSchedulingConstraints>,
    /// Device claims that the pods of the group share, at most 4. Belongs to an alpha feature that is disabled here:
    /// values are dropped.
    #[field(proto = 4, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claims: Vec<PodGroupResourceClaim>,
    /// Unit of preemption: single pods or the whole group. Belongs to an alpha feature that is disabled here: values
    /// are dropped.
    #[field(proto = 5, default = "Pod", known("Pod", "PodGroup"), go_type = "DisruptionMode")]
    pub disruption_mode: Option<String>,
    /// Priority class of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 6)]
    pub priority_class_name: String,
    /// Priority of the group. Belongs to an alpha feature that is disabled here: values are dropped.
    #[field(proto = 7)]
    pub priority: Option<i32>,
}

/// Observed state of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupStatus {
    /// Conditions of the group, such as PodGroupScheduled.
    #[field(proto = 1, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<Condition>,
    /// Claims that were created for the group.
    #[field(proto = 2, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claim_statuses: Vec<PodGroupResourceClaimStatus>,
}

/// A claim that was created for a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodGroupResourceClaimStatus {
    /// Name under which pods refer to the claim.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Name of the ResourceClaim. Absent when none was needed.
    #[field(proto = 2)]
    pub resource_claim_name: Option<String>,
}

/// Reference to the template of a group. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct PodGroupTemplateReference {
    /// A template in a workload.
    #[field(proto = 1, keep, optional)]
    pub workload: Option<WorkloadPodGroupTemplateReference>,
}

/// Reference to a template in a workload.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WorkloadPodGroupTemplateReference {
    /// Name of the workload.
    #[field(proto = 1, keep)]
    pub workload_name: String,
    /// Name of the template.
    #[field(proto = 2, keep)]
    pub pod_group_template_name: String,
}

impl Strategy for PodGroup {
    fn prepare_for_create(&mut self, _: &Context<'_>) {
        let spec = &mut self.spec;
        spec.scheduling_constraints = None;
        spec.resource_claims.clear();
        spec.disruption_mode = None;
        spec.priority_class_name.clear();
        spec.priority = None;
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, old: &Self) {
        let (new, old) = (&mut self.spec, &old.spec);
        // Stored values may stay.
        if old.scheduling_constraints.is_none() {
            new.scheduling_constraints = None;
        }
        if old.resource_claims.is_empty() {
            new.resource_claims.clear();
        }
        if old.disruption_mode.is_none() {
            new.disruption_mode = None;
        }
        if old.priority_class_name.is_empty() {
            new.priority_class_name.clear();
        }
        if old.priority.is_none() {
            new.priority = None;
        }
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
        if old.status.resource_claim_statuses.is_empty() {
            self.status.resource_claim_statuses.clear();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        if let Some(template) = &self.spec.pod_group_template_ref {
            template.check(&mut errors.at("podGroupTemplateRef"));
        }
        self.spec.scheduling_policy.check(&mut errors.at("schedulingPolicy"));
        check_claims(&self.spec.resource_claims, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        if self.spec.pod_group_template_ref != old.spec.pod_group_template_ref {
            errors.immutable("podGroupTemplateRef");
        }
        if self.spec.scheduling_policy != old.spec.scheduling_policy {
            errors.immutable("schedulingPolicy");
        }
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        check_conditions(&mut errors.at("status"), "conditions", &self.status.conditions);
    }
}

impl StrategyExtensions for PodGroup {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
}

impl PodGroupTemplateReference {
    fn check(&self, errors: &mut FieldErrors) {
        let Some(template) = &self.workload else {
            return errors.invalid("", "", "must specify one of: `workload`");
        };
        let errors = &mut *errors.at("workload");
        let parts = [
            (
                "workloadName",
                &template.workload_name,
                names::long_name as fn(&str) -> names::Complaints,
            ),
            (
                "podGroupTemplateName",
                &template.pod_group_template_name,
                names::short_name,
            ),
        ];
        for (field, value, problems) in parts {
            if value.is_empty() {
                errors.required(field, "");
                continue;
            }
            for problem in problems(value) {
                errors.invalid(field, value, problem);
            }
        }
    }
}
