//! Topologies in which volumes of a class can be provisioned.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::old_node_label;
use crate::core::v1::{TopologySelectorLabelRequirement, TopologySelectorTerm};

/// Values by label.
type Meaning<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Reports errors in the terms at `allowedTopologies`.
pub(super) fn check(terms: &[TopologySelectorTerm], errors: &mut FieldErrors) {
    // kube-apiserver compares each term with a list that initially contains as many empty terms.
    let mut seen: Vec<Meaning<'_>> = vec![Meaning::new(); terms.len()];
    for (index, term) in terms.iter().enumerate() {
        let errors = &mut *errors.at_index("allowedTopologies", index);
        let meaning = check_term(term, errors);
        for _ in seen.iter().filter(|other| **other == meaning) {
            errors.duplicate("matchLabelExpressions", "");
        }
        seen.push(meaning);
    }
}

/// Returns the warnings about valid terms.
pub(super) fn warnings(terms: &[TopologySelectorTerm]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (term, place) in terms.iter().zip(0..) {
        for (requirement, index) in term.match_label_expressions.iter().zip(0..) {
            if let Some(words) = old_node_label(&requirement.key) {
                let path = format!("allowedTopologies[{place}].matchLabelExpressions[{index}].key");
                warnings.push(format!("{path}: {words}"));
            }
        }
    }
    warnings
}

fn check_term<'a>(term: &'a TopologySelectorTerm, errors: &mut FieldErrors) -> Meaning<'a> {
    let mut meaning = Meaning::new();
    for (index, requirement) in term.match_label_expressions.iter().enumerate() {
        let errors = &mut *errors.at_index("matchLabelExpressions", index);
        let values = check_requirement(requirement, errors);
        if meaning.contains_key(requirement.key.as_str()) {
            errors.duplicate("key", &requirement.key);
        }
        meaning.insert(&requirement.key, values);
    }
    meaning
}

fn check_requirement<'a>(
    requirement: &'a TopologySelectorLabelRequirement,
    errors: &mut FieldErrors,
) -> BTreeSet<&'a str> {
    let mut values = BTreeSet::new();
    if requirement.values.is_empty() {
        errors.required("values", "");
    }
    for (index, value) in requirement.values.iter().enumerate() {
        if !values.insert(value.as_str()) {
            errors.at_index("values", index).duplicate("", value);
        }
    }
    for problem in names::qualified_name(&requirement.key) {
        errors.invalid("key", &requirement.key, problem);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(key: &str, values: &[&str]) -> TopologySelectorTerm {
        TopologySelectorTerm {
            match_label_expressions: vec![TopologySelectorLabelRequirement {
                key: key.to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
            }],
        }
    }

    fn messages(terms: &[TopologySelectorTerm]) -> Vec<String> {
        let mut errors = FieldErrors::default();
        check(terms, &mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    #[test]
    fn terms_that_mean_the_same_are_refused() {
        assert!(messages(&[term("zone", &["a"]), term("zone", &["b"])]).is_empty());
        let same = messages(&[term("zone", &["a", "b"]), term("zone", &["b", "a"])]);
        assert_eq!(
            same,
            ["allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\""]
        );
    }

    #[test]
    fn old_labels_are_warned_of() {
        let path = "allowedTopologies[0].matchLabelExpressions[0].key";
        let words = "deprecated since v1.14; use \"kubernetes.io/os\" instead";
        assert_eq!(
            warnings(&[term("beta.kubernetes.io/os", &["a"])]),
            [format!("{path}: {words}")]
        );
    }
}
