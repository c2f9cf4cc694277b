//! `v1`: webhooks and policies that admit or change requests.

mod client_config;
mod expression;
mod match_condition;
mod match_resources;
mod mutating_admission_policy;
mod mutating_admission_policy_binding;
mod mutating_webhook_configuration;
mod mutation;
mod param;
mod reserved_name;
mod rule;
#[cfg(test)]
mod tests;
mod validating_admission_policy;
mod validating_admission_policy_binding;
mod validating_webhook_configuration;
mod validation;
mod variable;
mod webhook;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use client_config::{ServiceReference, WebhookClientConfig};
pub use match_condition::MatchCondition;
pub use match_resources::MatchResources;
pub use mutating_admission_policy::{MutatingAdmissionPolicy, MutatingAdmissionPolicySpec};
pub use mutating_admission_policy_binding::{MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec};
pub use mutating_webhook_configuration::{MutatingWebhook, MutatingWebhookConfiguration};
pub use mutation::{ApplyConfiguration, JSONPatch, Mutation};
pub use param::{ParamKind, ParamRef};
pub use rule::{NamedRuleWithOperations, Rule, RuleWithOperations};
pub use validating_admission_policy::{
    ExpressionWarning, TypeChecking, ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec,
    ValidatingAdmissionPolicyStatus,
};
pub use validating_admission_policy_binding::{ValidatingAdmissionPolicyBinding, ValidatingAdmissionPolicyBindingSpec};
pub use validating_webhook_configuration::{ValidatingWebhook, ValidatingWebhookConfiguration};
pub use validation::{AuditAnnotation, Validation};
pub use variable::Variable;

pub(in crate::admissionregistration) use match_resources::default_selection;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_700, 15);

/// Legal values of `failurePolicy`.
const FAILURE_POLICIES: [&str; 2] = ["Fail", "Ignore"];

/// Legal values of `matchPolicy`.
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];

/// Legal values of `reinvocationPolicy`.
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];

/// Reports a value that `words` does not contain. Absent values are legal.
fn check_word(
    field: &str,
    word: Option<&String>,
    words: &[&str],
    errors: &mut planesmith_machinery::field_error::FieldErrors,
) {
    if let Some(word) = word
        && !words.contains(&word.as_str())
    {
        errors.not_supported(field, word, words);
    }
}
