//! Bindings, which put mutating admission policies into effect.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use super::validating_admission_policy_binding::check_policy_name;
use super::{MatchResources, ParamRef, reserved_name};

/// Puts a policy into effect for certain objects and with certain parameters.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1",
    hashed_version = "v1beta1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "PolicyName", type = "string", doc = "The policy that is put into effect.", path = "spec.policyName"),
    column(name = "ParamRef", type = "string", doc = "The parameters of the policy.", with = param_ref),
    column(age)
)]
pub struct MutatingAdmissionPolicyBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The policy that is put into effect, its parameters and the requests it is limited to.
    #[field(proto = 2)]
    pub spec: MutatingAdmissionPolicyBindingSpec,
}

/// The policy that a binding puts into effect, its parameters and the requests it is limited to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MutatingAdmissionPolicyBindingSpec {
    /// Name of the policy. Required.
    #[field(proto = 1)]
    pub policy_name: String,
    /// Parameters of the policy, if it has any.
    #[field(proto = 2)]
    pub param_ref: Option<ParamRef>,
    /// Narrows the requests that the policy applies to. No further limit when absent.
    #[field(proto = 3)]
    pub match_resources: Option<MatchResources>,
}

fn param_ref(binding: &MutatingAdmissionPolicyBinding) -> Cell {
    ParamRef::cell(binding.spec.param_ref.as_ref())
}

impl Strategy for MutatingAdmissionPolicyBinding {
    fn set_defaults(&mut self) {
        if let Some(resources) = &mut self.spec.match_resources {
            resources.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
        reserved_name::check(&self.metadata, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        reserved_name::warnings(&self.metadata)
    }
}

impl StrategyExtensions for MutatingAdmissionPolicyBinding {
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, _old: &Self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
    }
}

impl MutatingAdmissionPolicyBindingSpec {
    fn check(&self, errors: &mut FieldErrors) {
        check_policy_name(&self.policy_name, errors);
        if let Some(reference) = &self.param_ref {
            reference.check(&mut errors.at("paramRef"));
        }
        if let Some(resources) = &self.match_resources {
            let errors = &mut *errors.at("matchResources");
            resources.check(errors);
            resources.check_changing(errors);
        }
    }
}
