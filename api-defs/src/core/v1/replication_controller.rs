//! Replication controllers, the predecessors of replica sets.

mod columns;

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Dependents, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::time::Time;
use planesmith_machinery::{Resource, Struct};

use super::PodTemplateSpec;
use crate::core::v1::workload::counts::{check_at_most, check_from_zero};
use crate::core::v1::workload::selector::report_mismatch;
use crate::core::v1::workload::template::{check_always_running, template_warnings};

/// Runs a number of equal pods. Superseded by deployments and replica sets.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    storage_name = "controllers",
    short("rc"),
    categories("all"),
    name_rule = long_name,
    status,
    scale(spec = "spec.replicas", status = "status.replicas", selector = "spec.selector"),
    selectable("status.replicas"),
    generation,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Desired", type = "integer", doc = "Desired number of pods.", with = columns::desired),
    column(name = "Current", type = "integer", doc = "Number of pods.", with = columns::current),
    column(name = "Ready", type = "integer", doc = "Number of ready pods.", with = columns::ready),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the pods.", priority = 1, with = columns::selector)
)]
pub struct ReplicationController {
    /// Standard metadata. Missing labels default to those of the template.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired pods.
    #[field(proto = 2)]
    pub spec: ReplicationControllerSpec,
    /// Observed state. May lag behind the actual state.
    #[field(proto = 3)]
    pub status: ReplicationControllerStatus,
}

/// Desired state of a replication controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicationControllerSpec {
    /// Desired number of pods. 1 when absent.
    #[field(proto = 1, default = 1)]
    pub replicas: Option<i32>,
    /// Minimum time in seconds that a new pod must be ready to count as available.
    #[field(proto = 4, default = 0)]
    pub min_ready_seconds: i32,
    /// Labels of the pods that belong to the controller. Those of the template when absent.
    #[field(proto = 2, atomic)]
    pub selector: BTreeMap<String, String>,
    /// Template of new pods. The restartPolicy must be Always.
    #[field(proto = 3)]
    pub template: Option<PodTemplateSpec>,
}

/// Observed state of a replication controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicationControllerStatus {
    /// Number of pods.
    #[field(proto = 1, keep)]
    pub replicas: i32,
    /// Number of non-terminating pods that have all labels of the template.
    #[field(proto = 2)]
    pub fully_labeled_replicas: i32,
    /// Number of non-terminating pods that are ready.
    #[field(proto = 4)]
    pub ready_replicas: i32,
    /// Number of non-terminating pods that have been ready for minReadySeconds.
    #[field(proto = 5)]
    pub available_replicas: i32,
    /// Generation of the controller that the status describes.
    #[field(proto = 3)]
    pub observed_generation: i64,
    /// Conditions, for example about pods that could not be created or deleted.
    #[field(proto = 6, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<ReplicationControllerCondition>,
}

/// A condition of a replication controller.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ReplicationControllerCondition {
    /// Type of the condition, such as ReplicaFailure.
    #[field(name = "type", proto = 1, keep, go_type = "ReplicationControllerConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last change of status.
    #[field(proto = 3)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 4)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 5)]
    pub message: String,
}

impl Strategy for ReplicationController {
    fn set_defaults(&mut self) {
        self.default_labels();
        let Some(template) = &mut self.spec.template else {
            return;
        };
        if self.spec.selector.is_empty() {
            self.spec.selector.clone_from(&template.metadata.labels);
        }
        template.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        if let Some(template) = &mut self.spec.template {
            template.drop_disabled(None, context.features);
        }
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        if let Some(template) = &mut self.spec.template {
            template.drop_disabled(old.spec.template.as_ref(), context.features);
        }
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, _old: &Self) {
        // Applies the defaults again with the stored template.
        self.default_labels();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(old.spec.template.as_ref(), &mut errors.at("spec"));
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let none = PodTemplateSpec::default();
        let template = self.spec.template.as_ref().unwrap_or(&none);
        template_warnings(&self.metadata, template, None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        let none = PodTemplateSpec::default();
        // kube-apiserver warns about the old template.
        let template = old.spec.template.as_ref().unwrap_or(&none);
        template_warnings(&self.metadata, template, Some(old.metadata.generation))
    }
}

impl StrategyExtensions for ReplicationController {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::CHANGE_ONLY;
    const DEPENDENTS: Dependents = Dependents::Orphaned { warning: "" };
}

impl ReplicationController {
    /// Copies the labels of the template to a controller without labels.
    fn default_labels(&mut self) {
        if self.metadata.labels.is_empty()
            && let Some(template) = &self.spec.template
        {
            self.metadata.labels.clone_from(&template.metadata.labels);
        }
    }
}

impl ReplicationControllerSpec {
    /// Reports errors in the spec; `old` is the template that its template replaces.
    fn check(&self, old: Option<&PodTemplateSpec>, errors: &mut FieldErrors) {
        check_from_zero("minReadySeconds", self.min_ready_seconds, errors);
        if self.selector.is_empty() {
            errors.required("selector", "");
        }
        check_from_zero("replicas", self.replicas, errors);
        let Some(template) = &self.template else {
            errors.required("template", "");
            return;
        };
        let errors = &mut *errors.at("template");
        let labels = &template.metadata.labels;
        if self.selector.iter().any(|(key, value)| labels.get(key) != Some(value)) {
            report_mismatch(labels, "metadata.labels", errors);
        }
        check_always_running(template, old, "ReplicationController", errors);
    }
}

impl ReplicationControllerStatus {
    fn check(&self, errors: &mut FieldErrors) {
        check_from_zero("replicas", self.replicas, errors);
        check_from_zero("fullyLabeledReplicas", self.fully_labeled_replicas, errors);
        check_from_zero("readyReplicas", self.ready_replicas, errors);
        check_from_zero("availableReplicas", self.available_replicas, errors);
        check_from_zero("observedGeneration", self.observed_generation, errors);
        let all = (self.replicas, "status.replicas");
        check_at_most("fullyLabeledReplicas", self.fully_labeled_replicas, all, errors);
        check_at_most("readyReplicas", self.ready_replicas, all, errors);
        check_at_most("availableReplicas", self.available_replicas, all, errors);
        let ready = (self.ready_replicas, "readyReplicas");
        check_at_most("availableReplicas", self.available_replicas, ready, errors);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn updates_warn_of_the_template_before() {
        let controller = |generation: i64, seconds: i64| -> ReplicationController {
            let template = json!({"spec": {"containers": [], "terminationGracePeriodSeconds": seconds}});
            serde_json::from_value(json!({
                "apiVersion": "v1",
                "kind": "ReplicationController",
                "metadata": {"name": "r", "generation": generation},
                "spec": {"template": template},
            }))
            .unwrap()
        };
        let count = |old: &ReplicationController, new: &ReplicationController| new.warnings_on_update(old).len();
        assert_eq!(count(&controller(1, -1), &controller(2, 1)), 1);
        assert_eq!(count(&controller(1, 1), &controller(2, -1)), 0);
        assert_eq!(controller(1, -1).warnings_on_create().len(), 1);
    }
}
