//! Mutations that an admission policy applies to objects.

use std::collections::BTreeMap;

use planesmith_expressions::Type;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// A mutation of objects. Only the field that patchType names is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Mutation {
    /// Format of the change: ApplyConfiguration or JSONPatch.
    #[field(proto = 2, keep, known("ApplyConfiguration", "JSONPatch"), go_type = "PatchType")]
    pub patch_type: String,
    /// Fields to merge into the object.
    #[field(proto = 3)]
    pub apply_configuration: Option<ApplyConfiguration>,
    /// Operations of a JSON patch, computed by an expression.
    #[field(proto = 4)]
    pub json_patch: Option<JSONPatch>,
}

/// Fields to merge into an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ApplyConfiguration {
    /// CEL expression that evaluates to an Object with the fields to set.
    #[field(proto = 1)]
    pub expression: String,
}

/// Operations of a JSON patch.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONPatch {
    /// CEL expression that evaluates to a list of JSONPatch operations.
    #[field(proto = 1)]
    pub expression: String,
}

impl Mutation {
    pub(super) fn check(&self, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        let apply = Member {
            kind: "ApplyConfiguration",
            field: "applyConfiguration",
            expression: self.apply_configuration.as_ref().map(|apply| apply.expression.trim()),
        };
        let patch = Member {
            kind: "JSONPatch",
            field: "jsonPatch",
            expression: self.json_patch.as_ref().map(|patch| patch.expression.trim()),
        };
        let object = |name: &str| Type::object(name, BTreeMap::new());
        match self.patch_type.as_str() {
            "" => errors.required("patchType", ""),
            kind if kind == apply.kind => apply.check(&patch, object("Object"), environment, errors),
            kind if kind == patch.kind => patch.check(&apply, Type::list(object("JSONPatch")), environment, errors),
            kind => errors.not_supported("patchType", kind, &[apply.kind, patch.kind]),
        }
    }
}

/// One of the alternative formats of a mutation.
struct Member<'a> {
    kind: &'a str,
    field: &'a str,
    expression: Option<&'a str>,
}

impl Member<'_> {
    /// Reports errors in this format when the policy uses it instead of `other`.
    fn check(&self, other: &Self, result: Type, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        let field = self.field;
        match self.expression {
            None => errors.required(field, format!("must be specified when patchType is {}", self.kind)),
            Some("") => errors.at(field).required("expression", ""),
            Some(expression) => {
                if let Err(problem) = environment.compile(expression, &[result]) {
                    problem.report(&mut errors.at(field), "expression", expression);
                }
            }
        }
        if other.expression.is_some() {
            let detail = format!("must not be specified when patchType is {}", self.kind);
            errors.invalid(other.field, format!("{{{}}}", other.field), detail);
        }
    }
}
