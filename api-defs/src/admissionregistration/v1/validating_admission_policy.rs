//! Validating admission policies in CEL.

use std::collections::BTreeSet;

use planesmith_expressions::policy::{PolicyEnvironment, PolicyVariables};
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::json_path::JsonPath;
use planesmith_machinery::meta::{Condition, ObjectMeta};
use planesmith_machinery::strategy::{Context, MetadataRules, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::table::Cell;
use planesmith_machinery::validation::check_conditions;
use planesmith_machinery::{Resource, Struct};

use super::{
    AuditAnnotation, FAILURE_POLICIES, MatchCondition, MatchResources, ParamKind, Validation, Variable,
    match_condition, reserved_name,
};

/// Maximum number of audit annotations.
const MAX_ANNOTATIONS: usize = 20;

/// Rules in CEL that the server itself applies to requests. A binding puts the policy into effect.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1",
    categories("api-extensions"),
    cluster,
    status,
    status_resets("metadata"),
    generation,
    conditional_update,
    strategy,
    strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Validations", type = "integer", doc = "Number of rules.", with = validations),
    column(name = "ParamKind", type = "string", doc = "The kind of the parameters.", with = param_kind),
    column(age)
)]
pub struct ValidatingAdmissionPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Rules of the policy and the requests they apply to.
    #[field(proto = 2)]
    pub spec: ValidatingAdmissionPolicySpec,
    /// Results of the type check and conditions that controllers report.
    #[field(proto = 3)]
    pub status: ValidatingAdmissionPolicyStatus,
}

/// Rules of a policy and the requests they apply to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidatingAdmissionPolicySpec {
    /// Kind of the policy's parameter objects. The policy has no parameters when absent.
    #[field(proto = 1)]
    pub param_kind: Option<ParamKind>,
    /// Requests that the policy applies to. Required.
    #[field(proto = 2)]
    pub match_constraints: Option<MatchResources>,
    /// Conditions that a request must fulfil. At least one validation or audit annotation is required.
    #[field(proto = 3, list_type = atomic)]
    pub validations: Vec<Validation>,
    /// Behavior when the policy cannot be evaluated: Fail (the default) refuses the request, Ignore admits it.
    #[field(proto = 4, known("Fail", "Ignore"), go_type = "FailurePolicyType")]
    pub failure_policy: Option<String>,
    /// Annotations that the policy adds to the audit event.
    #[field(proto = 5, list_type = atomic)]
    pub audit_annotations: Vec<AuditAnnotation>,
    /// Conditions that must all be true for the policy to be evaluated; at most 64.
    #[field(proto = 6, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub match_conditions: Vec<MatchCondition>,
    /// Variables for the other expressions. Each can use those before it.
    #[field(proto = 7, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub variables: Vec<Variable>,
}

/// Results of the type check of a validating admission policy, and conditions that controllers report.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ValidatingAdmissionPolicyStatus {
    /// Generation of the policy that the status describes.
    #[field(proto = 1)]
    pub observed_generation: i64,
    /// Type errors that the check of the expressions found. Absent until the policy has been checked.
    #[field(proto = 2)]
    pub type_checking: Option<TypeChecking>,
    /// Conditions of the policy that controllers report.
    #[field(proto = 3, list_type = map, list_map_keys("type"))]
    pub conditions: Vec<Condition>,
}

/// Type errors in the expressions of a policy.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TypeChecking {
    /// Warnings of the type check, at most one for each expression of the policy.
    #[field(proto = 1, list_type = atomic)]
    pub expression_warnings: Vec<ExpressionWarning>,
}

/// A type check warning about one expression.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExpressionWarning {
    /// Field path of the expression, such as `spec.validations[0].expression`.
    #[field(proto = 2, keep)]
    pub field_ref: String,
    /// Type errors of the expression, listed by resource type.
    #[field(proto = 3, keep)]
    pub warning: String,
}

fn validations(policy: &ValidatingAdmissionPolicy) -> Cell {
    Cell::Integer(i64::try_from(policy.spec.validations.len()).unwrap_or(i64::MAX))
}

fn param_kind(policy: &ValidatingAdmissionPolicy) -> Cell {
    ParamKind::cell(policy.spec.param_kind.as_ref())
}

impl Strategy for ValidatingAdmissionPolicy {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_status_update(&mut self, _: &Context<'_>, old: &Self) {
        self.metadata.keep_for_status(&old.metadata);
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(&self.metadata.name, None, &mut errors.at("spec"));
        reserved_name::check(&self.metadata, errors);
    }

    fn warnings_on_create(&self) -> Vec<String> {
        reserved_name::warnings(&self.metadata)
    }

    fn validate_status_update(&self, _old: &Self, errors: &mut FieldErrors) {
        self.status.check(&mut errors.at("status"));
    }
}

impl StrategyExtensions for ValidatingAdmissionPolicy {
    const CHECK_COST_PER_BYTE: u64 = 1_000;
    const METADATA: MetadataRules = MetadataRules::AnyFinalizers;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_ONLY;

    fn validate_replacement(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec
            .check(&self.metadata.name, Some(&old.spec), &mut errors.at("spec"));
    }
}

impl ValidatingAdmissionPolicySpec {
    /// Sets the defaults that do not depend on other fields.
    pub(in crate::admissionregistration) fn set_defaults(&mut self) {
        self.failure_policy.get_or_insert_with(|| "Fail".to_owned());
        if let Some(constraints) = &mut self.match_constraints {
            constraints.set_defaults();
        }
    }

    fn check(&self, name: &str, old: Option<&Self>, errors: &mut FieldErrors) {
        if self.failure_policy.is_none() {
            errors.required("failurePolicy", "");
        }
        super::check_word("failurePolicy", self.failure_policy.as_ref(), &FAILURE_POLICIES, errors);
        if let Some(kind) = &self.param_kind {
            kind.check(&mut errors.at("paramKind"));
        }
        match &self.match_constraints {
            None => errors.required("matchConstraints", ""),
            Some(constraints) => constraints.check_constraints(&mut errors.at("matchConstraints")),
        }
        let same = |old: &Self| old.param_kind == self.param_kind && old.match_conditions == self.match_conditions;
        if !old.is_some_and(same) {
            match_condition::check(
                "matchConditions",
                &self.match_conditions,
                &self.environment(false, true),
                errors,
            );
        }
        // Without variables, the environment does not declare `variables`.
        let has_variables = !self.variables.is_empty();
        let mut environment = self.environment(has_variables, true);
        let mut for_messages = self.environment(has_variables, false);
        for (index, variable) in self.variables.iter().enumerate() {
            variable.check(&mut environment, &mut errors.at_index("variables", index));
        }
        for_messages.share_variables(&environment);
        if self.validations.is_empty() && self.audit_annotations.is_empty() {
            let detail = "validations or auditAnnotations must contain at least one item";
            errors.required("validations", detail);
            errors.required("auditAnnotations", detail);
            return;
        }
        for (index, validation) in self.validations.iter().enumerate() {
            validation.check(&environment, &for_messages, &mut errors.at_index("validations", index));
        }
        self.check_annotations(name, &environment, errors);
    }

    /// Returns the variables that the policy's expressions can use.
    fn environment(&self, variables: bool, authorizer: bool) -> PolicyEnvironment {
        PolicyEnvironment::new(PolicyVariables {
            params: self.param_kind.is_some(),
            authorizer,
            variables,
        })
    }

    fn check_annotations(&self, name: &str, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        const FIELD: &str = "auditAnnotations";
        let annotations = &self.audit_annotations;
        if annotations.len() > MAX_ANNOTATIONS {
            let detail = format!("must not have more than {MAX_ANNOTATIONS} auditAnnotations");
            errors.invalid(FIELD, GoValue(annotations), detail);
        }
        let mut keys = BTreeSet::new();
        for (index, annotation) in annotations.iter().enumerate() {
            let errors = &mut *errors.at_index(FIELD, index);
            annotation.check(name, environment, errors);
            if !keys.insert(&annotation.key) {
                errors.duplicate("key", &annotation.key);
            }
        }
    }
}

impl ValidatingAdmissionPolicyStatus {
    fn check(&self, errors: &mut FieldErrors) {
        let warnings = self.type_checking.iter().flat_map(|check| &check.expression_warnings);
        for (index, warning) in warnings.enumerate() {
            let errors = &mut *errors.at_index("typeChecking.expressionWarnings", index);
            if warning.warning.is_empty() {
                errors.required("warning", "");
            }
            let path = warning.field_ref.trim();
            if path.is_empty() {
                errors.required("fieldRef", "");
            } else if let Some(problem) = path_complaint(path) {
                errors.invalid("fieldRef", path, format!("invalid JSONPath: {problem}"));
            }
        }
        check_conditions(errors, "conditions", &self.conditions);
    }
}

/// Returns the error in a JSONPath, which may start with a name instead of a dot; `None` when the path is legal.
fn path_complaint(path: &str) -> Option<String> {
    let ends = |c: char| c.is_whitespace() || ".,[]$@{}".contains(c);
    let rest = match path.starts_with(|c: char| c == '_' || c.is_alphabetic()) {
        true => path.trim_start_matches(|c| !ends(c)),
        false => path,
    };
    match rest.is_empty() {
        true => None,
        false => JsonPath::parse(rest).err(),
    }
}
