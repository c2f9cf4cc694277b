//! Validation of the action of a review.

use planesmith_machinery::field_error::{FieldErrors, Json, go_object};
use planesmith_machinery::meta::{FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta};
use planesmith_machinery::names;
use planesmith_machinery::value::Value;

use super::{NonResourceAttributes, ResourceAttributes};

/// Checks that exactly one kind of action is set. Calls `subject` in between, which keeps kube-apiserver's order of
/// errors.
pub(in super::super) fn check_attributes(
    resource: Option<&ResourceAttributes>,
    path: Option<&NonResourceAttributes>,
    subject: impl FnOnce(&mut FieldErrors),
    errors: &mut FieldErrors,
) {
    match (resource, path) {
        (Some(_), Some(path)) => errors.invalid(
            "spec.nonResourceAttributes",
            Json(&rendered(path)),
            "cannot be specified in combination with resourceAttributes",
        ),
        (None, None) => errors.invalid(
            "spec.resourceAttributes",
            Json("null"),
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        ),
        _ => {}
    }
    subject(errors);
    if let Some(resource) = resource {
        check_selectors(resource, &mut errors.at("spec.resourceAttributes"));
    }
}

/// Checks that the metadata contains only fields that the server set, and the namespace if `namespaced`.
pub(in super::super) fn check_no_metadata(metadata: &ObjectMeta, namespaced: bool, errors: &mut FieldErrors) {
    let mut rest = ObjectMeta {
        managed_fields: Vec::new(),
        ..metadata.clone()
    };
    let mut problem = "must be empty";
    if namespaced {
        rest.namespace.clear();
        problem = "must be empty except for namespace";
    }
    if rest != ObjectMeta::default() {
        errors.invalid("metadata", metadata as &dyn Value, problem);
    }
}

/// Renders the attributes for an error message.
pub(in super::super) fn rendered(path: &NonResourceAttributes) -> String {
    go_object([("Path", path.path.as_str()), ("Verb", path.verb.as_str())])
}

fn check_selectors(resource: &ResourceAttributes, errors: &mut FieldErrors) {
    if let Some(selector) = &resource.field_selector {
        let mut errors = errors.at("fieldSelector");
        check_form(
            "fieldSelector",
            &selector.raw_selector,
            selector.requirements.is_empty(),
            &mut errors,
        );
        for (index, requirement) in selector.requirements.iter().enumerate() {
            check_field_requirement(requirement, &mut errors.at_index("requirements", index));
        }
    }
    if let Some(selector) = &resource.label_selector {
        let mut errors = errors.at("labelSelector");
        check_form(
            "labelSelector",
            &selector.raw_selector,
            selector.requirements.is_empty(),
            &mut errors,
        );
        for (index, requirement) in selector.requirements.iter().enumerate() {
            check_label_requirement(requirement, &mut errors.at_index("requirements", index));
        }
    }
}

/// Checks that a selector is given either as text or as requirements.
fn check_form(field: &str, raw: &str, no_requirements: bool, errors: &mut FieldErrors) {
    if !raw.is_empty() && !no_requirements {
        errors.invalid("rawSelector", raw, "may not specified at the same time as requirements");
    }
    if raw.is_empty() && no_requirements {
        let problem =
            format!("when spec.resourceAttributes.{field} is specified, requirements or rawSelector is required");
        errors.required("requirements", problem);
    }
}

/// Checks a field requirement. Unknown operators are legal, because newer clients may use them.
fn check_field_requirement(requirement: &FieldSelectorRequirement, errors: &mut FieldErrors) {
    if requirement.key.is_empty() {
        errors.required("key", "must be specified");
    }
    check_values(&requirement.operator, requirement.values.len(), errors);
}

fn check_label_requirement(requirement: &LabelSelectorRequirement, errors: &mut FieldErrors) {
    check_values(&requirement.operator, requirement.values.len(), errors);
    for problem in names::qualified_name(&requirement.key) {
        errors.invalid("key", &requirement.key, problem);
    }
    for (index, value) in requirement.values.iter().enumerate() {
        for problem in names::label_value(value) {
            errors.invalid(&format!("values[{index}]"), value, problem);
        }
    }
}

fn check_values(operator: &str, values: usize, errors: &mut FieldErrors) {
    match operator {
        "In" | "NotIn" if values == 0 => {
            errors.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if values > 0 => {
            errors.forbidden(
                "values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            );
        }
        _ => {}
    }
}
