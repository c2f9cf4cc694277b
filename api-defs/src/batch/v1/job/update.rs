//! Validation of updates of jobs.

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::value::Value;

use super::{Job, JobSpec};
use crate::core::v1::workload::selector::check_unchanged;
use crate::core::v1::{Affinity, Container, PodTemplateSpec};
use crate::features::{MUTABLE_POD_RESOURCES_FOR_SUSPENDED_JOBS, MUTABLE_SCHEDULING_DIRECTIVES_FOR_SUSPENDED_JOBS};

const IMMUTABLE: &str = "field is immutable";

impl Job {
    /// Reports changes of immutable fields.
    pub(super) fn check_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check_completions_change(&old.spec, &mut errors.at("spec"));
        check_unchanged(self.spec.selector.as_ref(), old.spec.selector.as_ref(), errors);
        let errors = &mut *errors.at("spec");
        self.check_template_change(old, errors);
        let (new, old) = (&self.spec, &old.spec);
        check_same("completionMode", &new.completion_mode, &old.completion_mode, errors);
        check_same(
            "podFailurePolicy",
            &new.pod_failure_policy,
            &old.pod_failure_policy,
            errors,
        );
        check_same(
            "backoffLimitPerIndex",
            &new.backoff_limit_per_index,
            &old.backoff_limit_per_index,
            errors,
        );
        check_same("managedBy", &new.managed_by, &old.managed_by, errors);
        check_same("successPolicy", &new.success_policy, &old.success_policy, errors);
    }

    /// Reports changes of the template, except those that a suspended job without pods permits.
    fn check_template_change(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec.template == old.spec.template {
            return;
        }
        let suspended = old.spec.suspend == Some(true);
        let waiting = suspended && old.status.start_time.is_none();
        let at_rest = (waiting || suspended && old.status.is("Suspended")) && old.status.active == 0;
        let new = &self.spec.template;
        let mut allowed = old.spec.template.clone();
        let may_move = match errors.features().has(&MUTABLE_SCHEDULING_DIRECTIVES_FOR_SUSPENDED_JOBS) {
            true => at_rest,
            false => waiting,
        };
        if may_move {
            allow_scheduling(&mut allowed, new);
        }
        if at_rest && errors.features().has(&MUTABLE_POD_RESOURCES_FOR_SUSPENDED_JOBS) {
            // As in kube-apiserver, the metadata of the template is not compared in this case.
            allow_resources(&mut allowed.spec.containers, &new.spec.containers);
            allow_resources(&mut allowed.spec.init_containers, &new.spec.init_containers);
            if new.spec != allowed.spec {
                errors.invalid("template.spec", GoValue(&new.spec), IMMUTABLE);
            }
        } else if *new != allowed {
            errors.invalid("template", GoValue(new), IMMUTABLE);
        }
    }
}

impl JobSpec {
    /// Reports changes of the completions. They are immutable, except together with parallelism in an indexed job.
    fn check_completions_change(&self, old: &Self, errors: &mut FieldErrors) {
        if self.completions == old.completions {
            return;
        }
        match self.completions {
            Some(_) | None if !self.is_indexed() => {
                check_same("completions", &self.completions, &old.completions, errors);
            }
            Some(completions) if self.parallelism != Some(completions) => errors.invalid(
                "completions",
                completions,
                "can only be modified in tandem with spec.parallelism",
            ),
            _ => {}
        }
    }
}

/// Copies the scheduling directives.
fn allow_scheduling(template: &mut PodTemplateSpec, new: &PodTemplateSpec) {
    let old_affinity = &mut template.spec.affinity;
    match (&new.spec.affinity, old_affinity.as_mut()) {
        (None, Some(old)) => {
            old.node_affinity = None;
            if *old == Affinity::default() {
                *old_affinity = None;
            }
        }
        (Some(new), None) => {
            *old_affinity = Some(Affinity {
                node_affinity: new.node_affinity.clone(),
                ..Affinity::default()
            });
        }
        (Some(new), Some(old)) => old.node_affinity.clone_from(&new.node_affinity),
        (None, None) => {}
    }
    template.spec.node_selector.clone_from(&new.spec.node_selector);
    template.spec.tolerations.clone_from(&new.spec.tolerations);
    template.spec.scheduling_gates.clone_from(&new.spec.scheduling_gates);
    template.metadata.annotations.clone_from(&new.metadata.annotations);
    template.metadata.labels.clone_from(&new.metadata.labels);
}

/// Copies the resources of containers with unchanged names.
fn allow_resources(containers: &mut [Container], new: &[Container]) {
    if containers.len() != new.len() {
        return;
    }
    let pairs = containers.iter_mut().zip(new);
    for (container, new) in pairs.filter(|(container, new)| container.name == new.name) {
        container.resources.clone_from(&new.resources);
    }
}

/// Reports a value that differs from the stored one.
fn check_same<T: Value + PartialEq>(field: &str, new: &Option<T>, old: &Option<T>, errors: &mut FieldErrors) {
    match new {
        new if new == old => {}
        Some(new) => errors.invalid(field, GoValue(new), IMMUTABLE),
        None => errors.invalid(field, Json("null"), IMMUTABLE),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn job(template: &Value, status: &Value) -> Job {
        let value = json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j"},
            "spec": {"suspend": true, "template": template},
            "status": status,
        });
        serde_json::from_value(value).unwrap()
    }

    /// Returns the fields that are refused when a suspended job with this status gets the template.
    fn refused(status: &Value, template: &Value) -> Vec<String> {
        let old = json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}});
        let mut errors = FieldErrors::default();
        job(template, status).check_update(&job(&old, status), &mut errors);
        errors.causes().into_iter().map(|cause| cause.field).collect()
    }

    #[test]
    fn a_suspended_job_without_pods_takes_other_resources_and_places() {
        let containers = |resources: Value| json!([{"name": "c", "image": "i", "resources": resources}, {"name": "d", "image": "i"}]);
        let larger = json!({"spec": {"containers": containers(json!({"limits": {"cpu": "2"}}))}});
        let moved = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": containers(json!({})), "nodeSelector": {"disk": "ssd"}},
        });
        let named = json!({"spec": {"containers": [{"name": "x", "image": "i"}, {"name": "d", "image": "i"}]}});
        let none: [&str; 0] = [];

        let fresh = json!({});
        assert_eq!(refused(&fresh, &larger), none);
        assert_eq!(refused(&fresh, &moved), none);
        assert_eq!(refused(&fresh, &named), ["spec.template.spec"]);

        let started = json!({"startTime": "2026-01-01T00:00:00Z"});
        assert_eq!(refused(&started, &larger), ["spec.template"]);
        assert_eq!(refused(&started, &moved), ["spec.template"]);

        let condition = json!([{"type": "Suspended", "status": "True"}]);
        let resting = json!({"startTime": "2026-01-01T00:00:00Z", "conditions": condition});
        assert_eq!(refused(&resting, &larger), none);
        assert_eq!(refused(&resting, &moved), none);

        let ending = json!({"active": 1, "conditions": condition});
        assert_eq!(refused(&ending, &larger), ["spec.template"]);
        assert_eq!(refused(&ending, &moved), ["spec.template"]);
    }
}
