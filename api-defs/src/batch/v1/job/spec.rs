//! Desired state of jobs.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use super::{PodFailurePolicy, SuccessPolicy};
use crate::core::v1::PodTemplateSpec;

/// Number of completions above which a high parallelism causes a warning, because the list of failed indexes could
/// become too large.
const MANY_COMPLETIONS: i32 = 100_000;
const MANY_AT_ONCE: i32 = 10_000;

/// Desired state of a job.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JobSpec {
    /// Maximum number of pods that run at the same time; fewer when fewer completions remain. 1 when absent.
    #[field(proto = 1)]
    pub parallelism: Option<i32>,
    /// Number of pods that must succeed. When absent, the success of any pod completes the job if parallelism is set;
    /// otherwise the default is 1. Immutable, except together with parallelism in an indexed job.
    #[field(proto = 2)]
    pub completions: Option<i32>,
    /// Maximum run time of the job in seconds, excluding suspensions, after which it is stopped as failed.
    #[field(proto = 3)]
    pub active_deadline_seconds: Option<i64>,
    /// Rules about the consequences of pod failures. When absent, all failures count against backoffLimit. Requires
    /// restartPolicy Never. Immutable.
    #[field(proto = 11)]
    pub pod_failure_policy: Option<PodFailurePolicy>,
    /// Criteria for the success of an indexed job before all of its pods have succeeded. Immutable.
    #[field(proto = 16)]
    pub success_policy: Option<SuccessPolicy>,
    /// Number of retries until the job fails. 6 when absent; no limit when absent and backoffLimitPerIndex is set.
    #[field(proto = 7)]
    pub backoff_limit: Option<i32>,
    /// Number of retries for each index of an indexed job until the index fails. Requires restartPolicy Never.
    /// Immutable.
    #[field(proto = 12)]
    pub backoff_limit_per_index: Option<i32>,
    /// Maximum number of failed indexes until the job is stopped. When absent, the other indexes continue. Requires
    /// backoffLimitPerIndex.
    #[field(proto = 13)]
    pub max_failed_indexes: Option<i32>,
    /// Labels of the pods that belong to the job. Normally left out: the server generates a unique selector. Immutable.
    #[field(proto = 4)]
    pub selector: Option<LabelSelector>,
    /// True to disable the generation of selector and labels. The client must then ensure that they are unique to the
    /// job.
    #[field(proto = 5)]
    pub manual_selector: Option<bool>,
    /// Template of the pods. The restartPolicy must be Never or OnFailure. Immutable, except for scheduling and
    /// resources while the job is suspended.
    #[field(proto = 6, keep)]
    pub template: PodTemplateSpec,
    /// Time in seconds between the completion of the job and its deletion, together with its pods. 0 deletes it at
    /// once; never deleted when absent.
    #[field(proto = 8)]
    pub ttl_seconds_after_finished: Option<i32>,
    /// Completion mode. NonIndexed (the default): the pods are equal, and completions is the number of them that must
    /// succeed. Indexed: pods have indexes from 0, and one pod for each index must succeed. Immutable.
    #[field(proto = 9, known("NonIndexed", "Indexed"), go_type = "CompletionMode")]
    pub completion_mode: Option<String>,
    /// True to suspend the job: running pods are deleted, and no new ones are created. The active deadline restarts on
    /// resumption.
    #[field(proto = 10)]
    pub suspend: Option<bool>,
    /// Replacement of terminating pods: TerminatingOrFailed (the default) replaces them at once; Failed, the default
    /// and only choice with a podFailurePolicy, replaces them after they have stopped.
    #[field(proto = 14, known("TerminatingOrFailed", "Failed"), go_type = "PodReplacementPolicy")]
    pub pod_replacement_policy: Option<String>,
    /// Controller that runs the job, as example.com/name. The built-in controller when absent. Immutable.
    #[field(proto = 15)]
    pub managed_by: Option<String>,
}

impl JobSpec {
    /// Sets the defaults of a standalone job. Templates of jobs leave them unset.
    pub(super) fn default_job(&mut self) {
        // Without both fields, the job runs a single pod.
        if self.completions.is_none() && self.parallelism.is_none() {
            self.completions = Some(1);
        }
        self.parallelism.get_or_insert(1);
        let usual = if self.backoff_limit_per_index.is_some() {
            i32::MAX
        } else {
            6
        };
        self.backoff_limit.get_or_insert(usual);
        self.completion_mode.get_or_insert_with(|| "NonIndexed".to_owned());
        self.suspend.get_or_insert(false);
        let failed_only = self.pod_failure_policy.is_some();
        let replaced = if failed_only { "Failed" } else { "TerminatingOrFailed" };
        self.pod_replacement_policy.get_or_insert_with(|| replaced.to_owned());
        self.manual_selector.get_or_insert(false);
    }

    /// Sets the defaults of nested values, which apply in jobs and in job templates.
    pub(crate) fn default_parts(&mut self) {
        if let Some(policy) = &mut self.pod_failure_policy {
            policy.set_defaults();
        }
        self.template.set_defaults();
    }

    /// True if each pod has an index.
    pub(super) fn is_indexed(&self) -> bool {
        self.completion_mode.as_deref() == Some("Indexed")
    }

    /// Returns the warnings about the spec at `path`.
    pub(crate) fn warnings(&self, path: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        let many = |count: Option<i32>, limit: i32| count.is_some_and(|count| count > limit);
        if self.is_indexed() && many(self.completions, MANY_COMPLETIONS) && many(self.parallelism, MANY_AT_ONCE) {
            warnings.push(
                "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, \
                 Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
                    .to_owned(),
            );
        }
        warnings.extend(self.template.warnings(&format!("{path}.template")));
        warnings
    }
}
