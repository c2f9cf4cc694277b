//! `v1alpha1`: mutating admission policies. The other kinds are no longer served.

mod match_condition;
mod match_resources;
mod mutating_admission_policy;
mod mutating_admission_policy_binding;
mod mutation;
mod param;
mod validating_admission_policy;
mod validating_admission_policy_binding;
mod variable;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use match_condition::MatchCondition;
pub use match_resources::{MatchResources, NamedRuleWithOperations};
pub use mutating_admission_policy::{MutatingAdmissionPolicy, MutatingAdmissionPolicySpec};
pub use mutating_admission_policy_binding::{MutatingAdmissionPolicyBinding, MutatingAdmissionPolicyBindingSpec};
pub use mutation::{ApplyConfiguration, JSONPatch, Mutation};
pub use param::{ParamKind, ParamRef};
pub use validating_admission_policy::{ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec};
pub use validating_admission_policy_binding::ValidatingAdmissionPolicyBinding;
pub use variable::Variable;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_700, 9);
