//! Validating admission policies in CEL.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::{MatchCondition, MatchResources, ParamKind, Variable};
use crate::admissionregistration::v1;
use crate::admissionregistration::v1::{AuditAnnotation, ValidatingAdmissionPolicyStatus, Validation};

/// Rules in CEL that the server itself applies to requests. A binding puts the policy into effect.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1alpha1",
    categories("api-extensions"),
    cluster,
    status,
    generation,
    conditional_update,
    storage_version = v1::ValidatingAdmissionPolicy,
    unserved,
    strategy
)]
pub struct ValidatingAdmissionPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The validations of the policy and the requests they apply to.
    #[field(proto = 2)]
    pub spec: ValidatingAdmissionPolicySpec,
    /// Results of the type check and conditions that controllers report.
    #[field(proto = 3)]
    pub status: ValidatingAdmissionPolicyStatus,
}

/// Rules of a policy and the requests they apply to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidatingAdmissionPolicySpec {
    /// Kind of the policy's parameter objects.
    #[field(proto = 1)]
    pub param_kind: Option<ParamKind>,
    /// Requests that the policy applies to.
    #[field(proto = 2)]
    pub match_constraints: Option<MatchResources>,
    /// Conditions that a request must fulfil.
    #[field(proto = 3, list_type = atomic)]
    pub validations: Vec<Validation>,
    /// Behavior when the policy cannot be evaluated: Fail (the default) or Ignore.
    #[field(proto = 4, known("Ignore", "Fail"), go_type = "FailurePolicyType")]
    pub failure_policy: Option<String>,
    /// Annotations that the policy adds to the audit event.
    #[field(proto = 5, list_type = atomic)]
    pub audit_annotations: Vec<AuditAnnotation>,
    /// Conditions that must all be true for the policy to be evaluated.
    #[field(proto = 6, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name", go_type = "[]MatchCondition")]
    pub match_conditions: Vec<MatchCondition>,
    /// Variables for the other expressions.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub variables: Vec<Variable>,
}

impl Strategy for ValidatingAdmissionPolicy {
    fn set_defaults(&mut self) {
        self.spec.failure_policy.get_or_insert_with(|| "Fail".to_owned());
        if let Some(constraints) = &mut self.spec.match_constraints {
            constraints.set_defaults();
        }
    }
}
