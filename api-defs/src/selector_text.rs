//! Labels and label selectors as columns render them.

use std::collections::BTreeMap;

use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::selector::LabelQuery;

const NONE: &str = "<none>";

/// Renders labels as `key=value` pairs.
pub(crate) fn labels_text(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() {
        return NONE.to_owned();
    }
    let pairs = labels.iter().map(|(key, value)| format!("{key}={value}"));
    pairs.collect::<Vec<_>>().join(",")
}

/// Renders a label selector in query syntax.
pub(crate) fn selector_text(selector: &LabelSelector) -> String {
    match LabelQuery::of_selector(selector) {
        Ok(query) if query.is_empty() => NONE.to_owned(),
        Ok(query) => query.to_string(),
        Err(_) => "<error>".to_owned(),
    }
}
