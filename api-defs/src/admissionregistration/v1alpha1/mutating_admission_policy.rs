//! Mutating admission policies in CEL.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::{MatchCondition, MatchResources, Mutation, ParamKind, Variable};
use crate::admissionregistration::v1;

/// Mutations in CEL that the server itself applies to requests. A binding puts the policy into effect.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1alpha1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    storage_version = v1::MutatingAdmissionPolicy,
    deprecated = "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy is deprecated in v1.35+, unavailable in v1.38+",
    strategy
)]
pub struct MutatingAdmissionPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Mutations of the policy and the requests they apply to.
    #[field(proto = 2)]
    pub spec: MutatingAdmissionPolicySpec,
}

/// Mutations of a policy and the requests they apply to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MutatingAdmissionPolicySpec {
    /// Kind of the policy's parameter objects. The policy has no parameters when absent.
    #[field(proto = 1)]
    pub param_kind: Option<ParamKind>,
    /// Requests that the policy applies to. Required.
    #[field(proto = 2)]
    pub match_constraints: Option<MatchResources>,
    /// Variables for the other expressions. Each can use those before it.
    #[field(proto = 3, list_type = atomic)]
    pub variables: Vec<Variable>,
    /// Mutations, applied in order. At least one is required.
    #[field(proto = 4, list_type = atomic)]
    pub mutations: Vec<Mutation>,
    /// Behavior when the policy cannot be evaluated: Fail (the default) refuses the request, Ignore admits it.
    #[field(proto = 5, known("Fail", "Ignore"), go_type = "FailurePolicyType")]
    pub failure_policy: Option<String>,
    /// Conditions that must all be true for the policy to be evaluated; at most 64.
    #[field(proto = 6, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name", go_type = "[]MatchCondition")]
    pub match_conditions: Vec<MatchCondition>,
    /// Repetition of the mutations after another plugin changed the object: Never or IfNeeded. Required.
    #[field(proto = 7, known("IfNeeded", "Never"), go_type = "ReinvocationPolicyType")]
    pub reinvocation_policy: String,
}

impl Strategy for MutatingAdmissionPolicy {
    fn set_defaults(&mut self) {
        self.spec.failure_policy.get_or_insert_with(|| "Fail".to_owned());
        if let Some(constraints) = &mut self.spec.match_constraints {
            constraints.set_defaults();
        }
    }
}
