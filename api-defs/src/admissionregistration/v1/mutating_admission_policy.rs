//! Mutating admission policies in CEL.

use planesmith_expressions::policy::{PolicyEnvironment, PolicyVariables};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::{Resource, Struct};

use super::{
    FAILURE_POLICIES, MatchCondition, MatchResources, Mutation, ParamKind, REINVOCATION_POLICIES, Variable,
    match_condition, reserved_name,
};

/// Mutations in CEL that the server itself applies to requests. A binding puts the policy into effect.
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
    column(name = "Mutations", type = "integer", doc = "Number of mutations.", with = mutations),
    column(name = "ParamKind", type = "string", doc = "The kind of the parameters.", with = param_kind),
    column(age)
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
    #[field(proto = 6, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub match_conditions: Vec<MatchCondition>,
    /// Repetition of the mutations after another plugin changed the object: Never or IfNeeded. Required.
    #[field(proto = 7, known("IfNeeded", "Never"), go_type = "ReinvocationPolicyType")]
    pub reinvocation_policy: String,
}

fn mutations(policy: &MutatingAdmissionPolicy) -> Cell {
    Cell::Integer(i64::try_from(policy.spec.mutations.len()).unwrap_or(i64::MAX))
}

fn param_kind(policy: &MutatingAdmissionPolicy) -> Cell {
    ParamKind::cell(policy.spec.param_kind.as_ref())
}

impl Strategy for MutatingAdmissionPolicy {
    fn set_defaults(&mut self) {
        self.spec.failure_policy.get_or_insert_with(|| "Fail".to_owned());
        if let Some(constraints) = &mut self.spec.match_constraints {
            constraints.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
        reserved_name::check(&self.metadata, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        reserved_name::warnings(&self.metadata)
    }
}

impl StrategyExtensions for MutatingAdmissionPolicy {
    const CHECK_COST_PER_BYTE: u64 = 1_000;
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }
}

impl MutatingAdmissionPolicySpec {
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        if self.failure_policy.is_none() {
            errors.required("failurePolicy", "");
        }
        super::check_word("failurePolicy", self.failure_policy.as_ref(), &FAILURE_POLICIES, errors);
        if let Some(kind) = &self.param_kind {
            kind.check(&mut errors.at("paramKind"));
        }
        match &self.match_constraints {
            None => errors.required("matchConstraints", ""),
            Some(constraints) => {
                let errors = &mut *errors.at("matchConstraints");
                constraints.check_constraints(errors);
                constraints.check_changing(errors);
            }
        }
        let same = |old: &Self| old.param_kind == self.param_kind && old.match_conditions == self.match_conditions;
        if !old.is_some_and(same) {
            match_condition::check(
                "matchConditions",
                &self.match_conditions,
                &self.environment(false),
                errors,
            );
        }
        let mut environment = self.environment(true);
        for (index, variable) in self.variables.iter().enumerate() {
            variable.check(&mut environment, &mut errors.at_index("variables", index));
        }
        // Variables cannot use the object types of mutations, so these are allowed from here on.
        environment.allow_objects();
        if self.mutations.is_empty() {
            errors.required("mutations", "mutations must contain at least one item");
        }
        for (index, mutation) in self.mutations.iter().enumerate() {
            mutation.check(&environment, &mut errors.at_index("mutations", index));
        }
        match self.reinvocation_policy.as_str() {
            "" => errors.required("reinvocationPolicy", ""),
            _ => super::check_word(
                "reinvocationPolicy",
                Some(&self.reinvocation_policy),
                &REINVOCATION_POLICIES,
                errors,
            ),
        }
    }

    /// Returns the variables that the policy's expressions can use.
    fn environment(&self, variables: bool) -> PolicyEnvironment {
        PolicyEnvironment::new(PolicyVariables {
            params: self.param_kind.is_some(),
            authorizer: true,
            variables,
        })
    }
}
