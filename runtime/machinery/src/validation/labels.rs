//! Rules for labels, annotations and label selectors.

use std::collections::BTreeMap;

use planesmith_wire::names;

use crate::field_error::FieldErrors;
use crate::meta::{LabelSelector, LabelSelectorRequirement};

/// Maximum total size of the annotations of an object, keys and values, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Checks keys and values of labels; errors of both are reported at the map itself.
pub fn check_labels(field: &str, labels: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    for (key, value) in labels {
        check_label_key(field, key, errors);
        for complaint in names::label_value(value) {
            errors.invalid(field, value, complaint);
        }
    }
}

/// Checks the key of a label.
pub fn check_label_key(field: &str, key: &str, errors: &mut FieldErrors) {
    for complaint in names::qualified_name(key) {
        errors.invalid(field, key, complaint);
    }
}

/// Checks keys and total size of annotations.
pub fn check_annotations(field: &str, annotations: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    let mut size = 0;
    for (key, value) in annotations {
        size += key.len() + value.len();
        for complaint in annotation_key(key) {
            errors.invalid(field, key, complaint);
        }
    }
    if size > MAX_ANNOTATIONS {
        errors.too_long(field, MAX_ANNOTATIONS as u64);
    }
}

/// Checks the key of an annotation, whose prefix may contain capital letters.
fn annotation_key(key: &str) -> names::Complaints {
    match key.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => names::qualified_name(&key.to_lowercase()),
        false => names::qualified_name(key),
    }
}

/// The values that a label selector accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorValues {
    /// Only legal label values.
    Legal,
    /// Any value: an object that was stored with an illegal value can still be changed.
    Any,
}

impl SelectorValues {
    /// Returns the values that a replacement of a stored selector accepts: any value if the stored selector contains an
    /// illegal one.
    #[must_use]
    pub fn as_stored(selector: &LabelSelector) -> Self {
        let mut values = selector
            .match_expressions
            .iter()
            .flat_map(|requirement| &requirement.values);
        match values.any(|value| !names::label_value(value).is_empty()) {
            true => SelectorValues::Any,
            false => SelectorValues::Legal,
        }
    }
}

/// Checks a label selector; errors are reported below the current prefix.
pub fn check_label_selector(selector: &LabelSelector, values: SelectorValues, errors: &mut FieldErrors) {
    check_labels("matchLabels", &selector.match_labels, errors);
    for (index, requirement) in selector.match_expressions.iter().enumerate() {
        check_requirement(requirement, values, &mut errors.at_index("matchExpressions", index));
    }
}

fn check_requirement(requirement: &LabelSelectorRequirement, values: SelectorValues, errors: &mut FieldErrors) {
    match (requirement.operator.as_str(), requirement.values.is_empty()) {
        ("In" | "NotIn", true) => {
            errors.required("values", "must be specified when `operator` is 'In' or 'NotIn'");
        }
        ("Exists" | "DoesNotExist", false) => {
            errors.forbidden(
                "values",
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            );
        }
        ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
        (other, _) => errors.invalid("operator", other, "not a valid selector operator"),
    }
    check_label_key("key", &requirement.key, errors);
    if values == SelectorValues::Legal {
        for (index, value) in requirement.values.iter().enumerate() {
            for complaint in names::label_value(value) {
                errors.at_index("values", index).invalid("", value, complaint);
            }
        }
    }
}
