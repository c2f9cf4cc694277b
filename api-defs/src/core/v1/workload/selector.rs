//! The selector of a controller, which must match the labels of its template.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::{FieldErrors, Json};
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::selector::LabelQuery;
use planesmith_machinery::validation::{SelectorValues, check_label_selector};
use planesmith_machinery::value::Value;

use super::template::check_always_running;
use crate::core::v1::PodTemplateSpec;

const MISMATCH: &str = "`selector` does not match template `labels`";

/// Reports a selector that is absent, malformed or empty; `kind` is the name of its owner.
pub(crate) fn check_present(selector: Option<&LabelSelector>, kind: &str, errors: &mut FieldErrors) {
    let Some(selector) = selector else {
        errors.required("selector", "");
        return;
    };
    check_label_selector(selector, SelectorValues::Legal, &mut errors.at("selector"));
    check_not_empty(selector, kind, errors);
}

/// Reports a selector that matches every pod.
pub(crate) fn check_not_empty(selector: &LabelSelector, kind: &str, errors: &mut FieldErrors) {
    if selector.match_labels.is_empty() && selector.match_expressions.is_empty() {
        let detail = format!("empty selector is invalid for {kind}");
        errors.invalid("selector", selector as &dyn Value, detail);
    }
}

/// Reports errors in the selector and, below `template`, in the template of a controller that keeps a number of pods
/// running. `kind` and `maker` are the names of the controller and of the creator of the pods in messages.
pub(crate) fn check_template(
    selector: Option<&LabelSelector>,
    template: (&PodTemplateSpec, Option<&PodTemplateSpec>),
    kind: &str,
    maker: &str,
    errors: &mut FieldErrors,
) {
    check_present(selector, kind, errors);
    let (template, old) = template;
    let labels = &template.metadata.labels;
    let outcome = matches(selector, labels);
    if outcome == Match::Senseless {
        if let Some(selector) = selector {
            errors.invalid("selector", selector as &dyn Value, "invalid label selector");
        }
        return;
    }
    let errors = &mut *errors.at("template");
    if outcome == Match::No {
        report_mismatch(labels, "metadata.labels", errors);
    }
    check_always_running(template, old, maker, errors);
}

/// Result of matching a selector against labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// The selector matches.
    Yes,
    /// The selector does not match. An absent selector matches nothing.
    No,
    /// The selector is malformed.
    Senseless,
}

/// Matches a selector against labels.
pub(crate) fn matches(selector: Option<&LabelSelector>, labels: &BTreeMap<String, String>) -> Match {
    let Some(selector) = selector else { return Match::No };
    match LabelQuery::of_selector(selector) {
        Err(_) => Match::Senseless,
        Ok(query) if query.matches(|key| labels.get(key).map(String::as_str)) => Match::Yes,
        Ok(_) => Match::No,
    }
}

/// Reports the labels of a template, at `field`, that its selector does not match.
pub(crate) fn report_mismatch(labels: &BTreeMap<String, String>, field: &str, errors: &mut FieldErrors) {
    errors.invalid(field, GoValue(labels), MISMATCH);
}

/// Reports a changed selector.
pub(crate) fn check_unchanged(new: Option<&LabelSelector>, old: Option<&LabelSelector>, errors: &mut FieldErrors) {
    if new == old {
        return;
    }
    const IMMUTABLE: &str = "field is immutable";
    match new {
        Some(new) => errors.invalid("spec.selector", new as &dyn Value, IMMUTABLE),
        None => errors.invalid("spec.selector", Json("null"), IMMUTABLE),
    }
}
