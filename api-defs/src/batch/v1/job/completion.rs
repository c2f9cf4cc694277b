//! Number of pods of a job that must succeed and that may fail.

use planesmith_machinery::field_error::FieldErrors;

use super::JobSpec;

/// Maximum parallelism and maximum number of failed indexes of an indexed job.
const MAX_PARALLELISM: i32 = 100_000;
const MAX_FAILED_INDEXES: i32 = 100_000;

/// Number of completions above which lower limits apply to jobs with a backoff limit per index.
const MANY_COMPLETIONS: i32 = 100_000;
const MAX_PARALLELISM_OF_MANY: i32 = 10_000;
const MAX_FAILED_INDEXES_OF_MANY: i32 = 10_000;

impl JobSpec {
    pub(super) fn check_completion(&self, errors: &mut FieldErrors) {
        match self.completion_mode.as_deref() {
            None | Some("NonIndexed") => {
                let indexed_only = [
                    ("backoffLimitPerIndex", self.backoff_limit_per_index),
                    ("maxFailedIndexes", self.max_failed_indexes),
                ];
                for (field, value) in indexed_only {
                    if let Some(value) = value {
                        errors.invalid(field, value, "requires indexed completion mode");
                    }
                }
            }
            Some("Indexed") => self.check_indexed(errors),
            Some(other) => errors.not_supported_in_order("completionMode", other, &["NonIndexed", "Indexed"]),
        }
    }

    fn check_indexed(&self, errors: &mut FieldErrors) {
        if self.completions.is_none() {
            errors.required("completions", "when completion mode is Indexed");
        }
        if let Some(parallelism) = self.parallelism.filter(|count| *count > MAX_PARALLELISM) {
            let detail = format!("must be less than or equal to {MAX_PARALLELISM} when completion mode is Indexed");
            errors.invalid("parallelism", parallelism, detail);
        }
        if let (Some(completions), Some(failed)) = (self.completions, self.max_failed_indexes)
            && failed > completions
        {
            errors.invalid("maxFailedIndexes", failed, "must be less than or equal to completions");
        }
        if let Some(failed) = self.max_failed_indexes.filter(|count| *count > MAX_FAILED_INDEXES) {
            let detail = format!("must be less than or equal to {MAX_FAILED_INDEXES}");
            errors.invalid("maxFailedIndexes", failed, detail);
        }
        let many = self.completions.is_some_and(|count| count > MANY_COMPLETIONS);
        if many && self.backoff_limit_per_index.is_some() {
            self.check_many(errors);
        }
    }

    fn check_many(&self, errors: &mut FieldErrors) {
        if self.max_failed_indexes.is_none() {
            let detail = format!("must be specified when completions is above {MANY_COMPLETIONS}");
            errors.required("maxFailedIndexes", detail);
        }
        let limits = [
            ("parallelism", self.parallelism, MAX_PARALLELISM_OF_MANY),
            ("maxFailedIndexes", self.max_failed_indexes, MAX_FAILED_INDEXES_OF_MANY),
        ];
        for (field, count, limit) in limits {
            if let Some(count) = count.filter(|count| *count > limit) {
                let detail = format!(
                    "must be less than or equal to {limit} when completions are above {MANY_COMPLETIONS} and used with \
                     backoff limit per index"
                );
                errors.invalid(field, count, detail);
            }
        }
    }
}
