//! Criteria for the success of indexed jobs before all of their pods have succeeded.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

use super::indexes;
use crate::core::v1::workload::counts::check_from_zero;

const MAX_RULES: usize = 20;
const MAX_INDEXES_BYTES: usize = 64 * 1024;

/// Criteria for the success of an indexed job before all of its pods have succeeded.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SuccessPolicy {
    /// Rules, 1 to 20; one that is met is sufficient. The remaining pods are then deleted.
    #[field(proto = 1, keep, list_type = atomic)]
    pub rules: Vec<SuccessPolicyRule>,
}

/// Criterion of success. At least one of the two fields is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SuccessPolicyRule {
    /// Indexes that must succeed, sorted and with ranges: 1,3-5,7. With succeededCount, the indexes that are counted.
    #[field(proto = 1)]
    pub succeeded_indexes: Option<String>,
    /// Number of indexes that must succeed.
    #[field(proto = 2)]
    pub succeeded_count: Option<i32>,
}

impl SuccessPolicy {
    /// Reports errors in the policy of a job with `completions`.
    pub(super) fn check(&self, completions: Option<i32>, errors: &mut FieldErrors) {
        if self.rules.is_empty() {
            errors.required(
                "rules",
                "at least one rules must be specified when the successPolicy is specified",
            );
        }
        if self.rules.len() > MAX_RULES {
            errors.too_many("rules", self.rules.len(), MAX_RULES as u64);
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(completions, &mut errors.at_index("rules", index));
        }
    }
}

impl SuccessPolicyRule {
    fn check(&self, completions: Option<i32>, errors: &mut FieldErrors) {
        if self.succeeded_count.is_none() && self.succeeded_indexes.is_none() {
            errors.required(
                "",
                "at least one of succeededCount or succeededIndexes must be specified",
            );
        }
        // Missing completions of an indexed job are reported elsewhere.
        let Some(completions) = completions else { return };
        let mut total = 0;
        if let Some(text) = &self.succeeded_indexes {
            if text.len() > MAX_INDEXES_BYTES {
                errors.too_long("succeededIndexes", MAX_INDEXES_BYTES as u64);
            }
            match indexes::count(text, completions) {
                Ok(count) => total = count,
                Err(problem) => errors.invalid(
                    "succeededIndexes",
                    text,
                    format!("error parsing succeededIndexes: {problem}"),
                ),
            }
        }
        let Some(count) = self.succeeded_count else { return };
        check_from_zero("succeededCount", count, errors);
        if count > completions {
            let detail = format!("must be less than or equal to {completions} (the number of specified completions)");
            errors.invalid("succeededCount", count, detail);
        }
        if self.succeeded_indexes.is_some() && i64::from(count) > total {
            let detail = format!(
                "must be less than or equal to {total} (the number of indexes in the specified succeededIndexes field)"
            );
            errors.invalid("succeededCount", count, detail);
        }
    }
}
