//! What may change in a job.

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::value::Value;

use super::{Job, JobSpec};
use crate::core::v1::{Affinity, Container, PodTemplateSpec};
use crate::workload::selector::check_unchanged;

const IMMUTABLE: &str = "field is immutable";

impl Job {
    /// Reports changes of what cannot change.
    pub(super) fn check_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check_completions_change(&old.spec, &mut errors.at("spec"));
        check_unchanged(self.spec.selector.as_ref(), old.spec.selector.as_ref(), errors);
        let errors = &mut *errors.at("spec");
        let allowed = old.template_with_allowed_changes(&self.spec.template);
        if self.spec.template != allowed {
            errors.invalid("template", GoValue(&self.spec.template), IMMUTABLE);
        }
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

    /// The template of this job with the changes in `new` that a suspended job allows.
    fn template_with_allowed_changes(&self, new: &PodTemplateSpec) -> PodTemplateSpec {
        let mut template = self.spec.template.clone();
        if self.spec.suspend != Some(true) {
            return template;
        }
        let at_rest = self.status.is("Suspended") && self.status.active == 0;
        if at_rest || self.status.start_time.is_none() {
            allow_scheduling(&mut template, new);
        }
        if at_rest {
            allow_resources(&mut template.spec.containers, &new.spec.containers);
            allow_resources(&mut template.spec.init_containers, &new.spec.init_containers);
        }
        template
    }
}

impl JobSpec {
    /// Completions are fixed, but in an indexed job, where they may change together with the parallelism.
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

/// Takes over what decides where pods run.
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

/// Takes over the resources of the containers, which stay the same otherwise.
fn allow_resources(containers: &mut [Container], new: &[Container]) {
    for (container, new) in containers.iter_mut().zip(new) {
        container.resources.clone_from(&new.resources);
    }
}

/// Reports a value that is not the one that was stored.
fn check_same<T: Value + PartialEq>(field: &str, new: &Option<T>, old: &Option<T>, errors: &mut FieldErrors) {
    match new {
        new if new == old => {}
        Some(new) => errors.invalid(field, GoValue(new), IMMUTABLE),
        None => errors.invalid(field, Json("null"), IMMUTABLE),
    }
}
