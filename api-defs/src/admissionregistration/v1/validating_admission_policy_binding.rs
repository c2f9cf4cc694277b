//! Bindings, which put validating admission policies into effect.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::names;
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use super::{MatchResources, ParamRef, reserved_name};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

/// Puts a policy into effect for certain objects, with certain parameters and with certain actions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1",
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
pub struct ValidatingAdmissionPolicyBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The policy that is put into effect, its parameters, the requests it is limited to and the actions on a
    /// violation.
    #[field(proto = 2, expected)]
    pub spec: ValidatingAdmissionPolicyBindingSpec,
}

/// The policy that a binding puts into effect, its parameters, the requests it is limited to and the actions on a
/// violation.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidatingAdmissionPolicyBindingSpec {
    /// Name of the policy.
    #[field(proto = 1, expected)]
    pub policy_name: String,
    /// Parameters of the policy, if it has any.
    #[field(proto = 2)]
    pub param_ref: Option<ParamRef>,
    /// Narrows the requests that the policy applies to. No further limit when absent.
    #[field(proto = 3)]
    pub match_resources: Option<MatchResources>,
    /// Actions when a validation fails: Deny refuses the request, Warn sends the client a warning, Audit adds an
    /// annotation to the audit event. Deny and Warn exclude each other.
    #[field(proto = 4, expected, list_type = set, known("Audit", "Deny", "Warn"), go_type = "[]ValidationAction")]
    pub validation_actions: Vec<String>,
}

fn param_ref(binding: &ValidatingAdmissionPolicyBinding) -> Cell {
    ParamRef::cell(binding.spec.param_ref.as_ref())
}

impl Strategy for ValidatingAdmissionPolicyBinding {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
        reserved_name::check(&self.metadata, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        reserved_name::warnings(&self.metadata)
    }
}

impl StrategyExtensions for ValidatingAdmissionPolicyBinding {
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, _old: &Self, errors: &mut FieldErrors) {
        self.spec.check(&mut errors.at("spec"));
    }
}

impl ValidatingAdmissionPolicyBindingSpec {
    /// Sets the defaults that do not depend on other fields.
    pub(in crate::admissionregistration) fn set_defaults(&mut self) {
        if let Some(resources) = &mut self.match_resources {
            resources.set_defaults();
        }
    }

    fn check(&self, errors: &mut FieldErrors) {
        check_policy_name(&self.policy_name, errors);
        if let Some(reference) = &self.param_ref {
            reference.check(&mut errors.at("paramRef"));
        }
        if let Some(resources) = &self.match_resources {
            resources.check(&mut errors.at("matchResources"));
        }
        self.check_actions(errors);
    }

    fn check_actions(&self, errors: &mut FieldErrors) {
        const FIELD: &str = "validationActions";
        let mut actions = BTreeSet::new();
        for (index, action) in self.validation_actions.iter().enumerate() {
            let errors = &mut *errors.at_index(FIELD, index);
            if !ACTIONS.contains(&action.as_str()) {
                errors.not_supported("", action, &ACTIONS);
            }
            if !actions.insert(action.as_str()) {
                errors.duplicate("", action);
            }
        }
        if actions.contains("Deny") && actions.contains("Warn") {
            let detail = "must not contain both Deny and Warn (repeating the same validation failure information in \
                          the API response and headers serves no purpose)";
            errors.invalid(FIELD, self.validation_actions.as_slice(), detail);
        }
        if actions.is_empty() {
            errors.required(FIELD, "at least one validation action is required");
        }
    }
}

/// Reports errors in the name of a policy in the spec of a binding.
pub(super) fn check_policy_name(name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        errors.required("policyName", "");
        return;
    }
    for complaint in names::dns_subdomain(name) {
        errors.invalid("policyName", name, complaint);
    }
}
