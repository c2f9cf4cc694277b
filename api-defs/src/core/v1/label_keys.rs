//! Label keys whose values are taken from the pod itself.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::validation::check_label_key;

/// Reports keys that are no legal labels, or that conflict with each other or with the selector. On creation, the
/// server has added a requirement to the selector for each key.
pub(crate) fn check_label_keys(
    with: &[String],
    without: &[String],
    selector: Option<&LabelSelector>,
    errors: &mut FieldErrors,
) {
    let lists = [("matchLabelKeys", with), ("mismatchLabelKeys", without)];
    for (field, keys) in lists {
        if !keys.is_empty() && selector.is_none() {
            errors.forbidden(field, "must not be specified when labelSelector is not set");
            continue;
        }
        for (index, key) in keys.iter().enumerate() {
            check_label_key("", key, &mut errors.at_index(field, index));
        }
    }
    if with.is_empty() {
        return;
    }
    if let Some(selector) = selector {
        let mut known: BTreeSet<&str> = selector.match_labels.keys().map(String::as_str).collect();
        let last: BTreeMap<&str, usize> = (with.iter().enumerate())
            .map(|(index, key)| (key.as_str(), index))
            .collect();
        for requirement in &selector.match_expressions {
            let key = requirement.key.as_str();
            // A second requirement existed before.
            if let Some(&index) = last.get(key).filter(|_| known.contains(key)) {
                let problem = "exists in both matchLabelKeys and labelSelector";
                errors.at_index("", index).invalid("", key, problem);
            }
            known.insert(key);
        }
    }
    let without: BTreeSet<&String> = without.iter().collect();
    for (index, key) in with.iter().enumerate() {
        if without.contains(key) {
            let problem = "exists in both matchLabelKeys and mismatchLabelKeys";
            errors.at_index("matchLabelKeys", index).invalid("", key, problem);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_the_selector_also_has_is_reported_at_its_place() {
        let requirement = json!({"key": "b", "operator": "Exists"});
        let selector: LabelSelector = serde_json::from_value(json!({
            "matchLabels": {"c": "d"},
            "matchExpressions": [requirement, requirement],
        }))
        .unwrap();
        let keys = ["a", "b"].map(str::to_owned);
        let found = |with: &[String], without: &[String], selector: Option<&LabelSelector>| {
            let mut errors = FieldErrors::default();
            check_label_keys(with, without, selector, &mut errors.at("term"));
            errors.joined().unwrap_or_default()
        };
        assert_eq!(
            found(&keys, &[], Some(&selector)),
            "term[1]: Invalid value: \"b\": exists in both matchLabelKeys and labelSelector"
        );
        assert_eq!(found(&keys[..1], &[], Some(&selector)), "");
        assert_eq!(
            found(&[], &keys, None),
            "term.mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set"
        );
    }
}
