//! How a policy changes objects.

use std::collections::BTreeMap;

use planesmith_expressions::Type;
use planesmith_expressions::policy::PolicyEnvironment;
use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;

/// A change of objects. The field that the type names is set, the other is not.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Mutation {
    /// How the change is written: ApplyConfiguration or JSONPatch.
    #[field(proto = 2, keep, known("ApplyConfiguration", "JSONPatch"))]
    pub patch_type: String,
    /// Fields that are merged into the object.
    #[field(proto = 3)]
    pub apply_configuration: Option<ApplyConfiguration>,
    /// Changes the object by the operations of a JSON patch that an expression computes.
    #[field(proto = 4)]
    pub json_patch: Option<JSONPatch>,
}

/// Fields that are merged into an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ApplyConfiguration {
    /// The fields, in CEL: an Object that holds what is to be set.
    #[field(proto = 1)]
    pub expression: String,
}

/// Operations on an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct JSONPatch {
    /// The operations, in CEL: a list of JSONPatch.
    #[field(proto = 1)]
    pub expression: String,
}

impl Mutation {
    pub(super) fn check(&self, environment: &PolicyEnvironment, errors: &mut FieldErrors) {
        const APPLY: &str = "ApplyConfiguration";
        const PATCH: &str = "JSONPatch";
        let apply = self.apply_configuration.as_ref().map(|apply| &apply.expression);
        let patch = self.json_patch.as_ref().map(|patch| &patch.expression);
        let (wanted, other) = (("applyConfiguration", apply), ("jsonPatch", patch));
        match self.patch_type.as_str() {
            "" => errors.required("patchType", ""),
            APPLY => check_union(APPLY, wanted, other, errors),
            PATCH => check_union(PATCH, other, wanted, errors),
            kind => errors.not_supported("patchType", kind, &[APPLY, PATCH]),
        }
        let object = || Type::object("Object", BTreeMap::new());
        let (field, expression, result) = match self.patch_type.as_str() {
            APPLY => ("applyConfiguration", apply, object()),
            PATCH => (
                "jsonPatch",
                patch,
                Type::list(Type::object("JSONPatch", BTreeMap::new())),
            ),
            _ => return,
        };
        if let Some(expression) = expression.filter(|text| !text.trim().is_empty())
            && let Err(problem) = environment.compile(expression, &[result])
        {
            errors.at(field).invalid("expression", expression, problem);
        }
    }
}

/// A field and its expression, if it is set.
type Member<'a> = (&'a str, Option<&'a String>);

fn check_union(kind: &str, (field, expression): Member<'_>, (other, unwanted): Member<'_>, errors: &mut FieldErrors) {
    match expression {
        None => errors.required(field, format!("must be specified when patchType is {kind}")),
        Some(text) if text.trim().is_empty() => errors.at(field).required("expression", ""),
        Some(_) => {}
    }
    if unwanted.is_some() {
        let detail = format!("must not be specified when patchType is {kind}");
        errors.invalid(other, format!("{{{other}}}"), detail);
    }
}
