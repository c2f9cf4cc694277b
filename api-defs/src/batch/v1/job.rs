//! Jobs, which run pods until they succeed.

mod check;
mod columns;
mod completion;
mod failure_policy;
mod identity;
mod indexes;
mod spec;
mod status;
mod status_check;
mod success_policy;
mod update;

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::selector::{FieldAlias, FieldLabels, FieldRefusal};
use planesmith_machinery::strategy::{Context, Dependents, Strategy, StrategyExtensions, UpdateStep, update_order};

use crate::core::v1::workload::template::name_warning;

pub use failure_policy::{
    PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
};
pub use spec::JobSpec;
pub use status::{JobCondition, JobStatus, UncountedTerminatedPods};
pub use success_policy::{SuccessPolicy, SuccessPolicyRule};

/// Runs pods until a number of them have succeeded.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "batch",
    version = "v1",
    categories("all"),
    status,
    generation,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Status", type = "string", doc = "State of the job.", with = columns::status),
    column(name = "Completions", type = "string", doc = "Succeeded and required pods.", with = columns::completions),
    column(name = "Duration", type = "string", doc = "Duration up to the completion or the present.", with = columns::duration),
    column(age),
    column(name = "Containers", type = "string", doc = "Names of the containers in the template.", priority = 1, with = columns::containers),
    column(name = "Images", type = "string", doc = "Images of the containers in the template.", priority = 1, with = columns::images),
    column(name = "Selector", type = "string", doc = "Selector of the pods.", priority = 1, with = columns::selector)
)]
pub struct Job {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Template and number of the pods, and the criteria of success.
    #[field(proto = 2)]
    pub spec: JobSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: JobStatus,
}

impl Strategy for Job {
    fn set_defaults(&mut self) {
        // A new job shares the labels of its template, including the generated ones.
        if !self.metadata.uid.is_empty() {
            self.default_labels();
        }
        self.spec.default_job();
        self.spec.default_parts();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        self.spec.template.drop_disabled(None, context.features);
        let shares_labels = !self.spec.template.metadata.labels.is_empty();
        if self.spec.manual_selector != Some(true) {
            self.generate_selector();
        }
        // In kube-apiserver a job shares the labels of a template with labels from the start, and those of another
        // template after it was stored. Problems of generated labels are reported for shared labels alone.
        if shares_labels || names::label_value(&self.metadata.name).is_empty() {
            self.default_labels();
        }
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        self.default_labels();
        self.spec
            .template
            .drop_disabled(Some(&old.spec.template), context.features);
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, _old: &Self) {
        // Uses the stored template.
        self.default_labels();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.check(None, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check_with_selector(Some(&old.spec), &mut errors.at("spec"));
        self.check_update(old, errors);
    }

    fn validate_status_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.check_status_update(old, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        let mut warnings: Vec<String> = name_warning(&self.metadata.name).into_iter().collect();
        warnings.extend(self.spec.warnings("spec"));
        warnings
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        match old.metadata.generation == self.metadata.generation {
            true => Vec::new(),
            false => self.spec.warnings("spec"),
        }
    }
}

impl StrategyExtensions for Job {
    const FIELD_LABELS: FieldLabels = FieldLabels {
        aliases: &[FieldAlias {
            name: "status.successful",
            paths: &["status.succeeded"],
        }],
        refusal: FieldRefusal::Quoted("Job"),
        ..FieldLabels::NONE
    };

    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;

    const DEPENDENTS: Dependents = Dependents::Orphaned {
        warning: "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove \
                  them or set propagationPolicy=Orphan to suppress this warning",
    };

    fn as_managed(&self) -> Option<Self> {
        if !self.metadata.labels.is_empty() || self.spec.template.metadata.labels.is_empty() {
            return None;
        }
        let mut managed = self.clone();
        managed.default_labels();
        Some(managed)
    }

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.check(Some(&old.spec), errors);
    }
}

impl Job {
    /// Copies the labels of the template to a job without labels.
    fn default_labels(&mut self) {
        if self.metadata.labels.is_empty() {
            self.metadata.labels.clone_from(&self.spec.template.metadata.labels);
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::defaulting::set_defaults;
    use planesmith_machinery::environment::Environment;
    use serde_json::{Value, json};

    use super::*;

    /// Returns the labels of a job after its creation.
    fn labels(own: &Value, of_template: &Value) -> Vec<String> {
        let mut job: Job = serde_json::from_value(json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "j", "labels": own},
            "spec": {"template": {"metadata": {"labels": of_template}, "spec": {"containers": []}}},
        }))
        .unwrap();
        set_defaults(&mut job, Environment::defaults());
        job.metadata.uid = "u".to_owned();
        job.prepare_for_create(&Context::default());
        job.metadata.labels.into_keys().collect()
    }

    #[test]
    fn the_creator_manages_the_labels_of_the_template_but_not_generated_ones() {
        let mut job = Job::default();
        job.spec.template.metadata.labels.insert("x".to_owned(), "y".to_owned());
        let managed = job.as_managed().unwrap();
        assert_eq!(managed.metadata.labels, job.spec.template.metadata.labels);
        assert!(managed.as_managed().is_none(), "labels of its own stay");
        assert!(Job::default().as_managed().is_none());
    }

    /// The errors of a job with this name whose template has `labels`, when it is created.
    fn created(name: &str, labels: &Value) -> FieldErrors {
        let mut job: Job = serde_json::from_value(json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"template": {"metadata": {"labels": labels}, "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "c", "image": "i"}],
            }}},
        }))
        .unwrap();
        set_defaults(&mut job, Environment::defaults());
        job.metadata.uid = "u".to_owned();
        job.prepare_for_create(&Context::default());
        planesmith_machinery::validation::check_create(&job, &Context::default())
    }

    #[test]
    fn a_name_too_long_for_labels_of_pods_is_reported_once() {
        for (length, problems) in [(63, vec![]), (64, vec!["spec.template.labels"; 2])] {
            let errors = created(&"j".repeat(length), &json!({}));
            let fields: Vec<&str> = errors.as_slice().iter().map(|error| error.field.as_str()).collect();
            assert_eq!(fields, problems, "{errors:?}");
        }
    }

    #[test]
    fn names_that_are_no_label_values_are_reported_for_shared_labels() {
        let problems = |name: &str, labels: &Value| {
            let errors = created(name, labels);
            let errors = errors.as_slice().iter();
            errors.filter(|error| error.field == "metadata.labels").count()
        };
        let long = "j".repeat(64);
        for (name, labels, expected) in [
            ("j", json!({}), 0),
            ("j", json!({"a": "b"}), 0),
            (&long, json!({}), 0),
            (&long, json!({"a": "b"}), 2),
            ("a/b", json!({}), 0),
            ("a/b", json!({"a": "b"}), 2),
        ] {
            assert_eq!(problems(name, &labels), expected, "{name} {labels}");
        }
    }

    #[test]
    fn stored_jobs_without_labels_with_a_domain_need_none() {
        let job = |manual: bool, labels: &Value| -> Job {
            serde_json::from_value(json!({
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "j", "uid": "u"},
                "spec": {
                    "manualSelector": manual,
                    "selector": {"matchLabels": {"controller-uid": "u"}},
                    "template": {"metadata": {"labels": labels}},
                },
            }))
            .unwrap()
        };
        let old_labels = json!({"controller-uid": "u", "job-name": "j"});
        let mut all = old_labels.clone();
        all["batch.kubernetes.io/controller-uid"] = json!("u");
        all["batch.kubernetes.io/job-name"] = json!("j");
        for (old, expected) in [(&old_labels, 0), (&all, 2)] {
            let mut errors = FieldErrors::default();
            job(false, &old_labels).check_identity(Some(&job(true, old).spec), &mut errors);
            assert_eq!(errors.count(), expected, "{errors:?}");
        }
    }

    #[test]
    fn a_job_without_labels_has_all_of_its_template() {
        let all = [
            "batch.kubernetes.io/controller-uid",
            "batch.kubernetes.io/job-name",
            "controller-uid",
            "job-name",
        ];
        assert_eq!(labels(&json!({}), &json!({})), all);
        assert_eq!(labels(&json!({}), &json!({"x": "y"})), [&all[..], &["x"]].concat());
        assert_eq!(labels(&json!({"a": "b"}), &json!({"x": "y"})), ["a"]);
    }
}
