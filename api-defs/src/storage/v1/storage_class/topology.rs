//! Where volumes of a class may be made.

use std::collections::{BTreeMap, BTreeSet};

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::{TopologySelectorLabelRequirement, TopologySelectorTerm};

/// Values by label.
type Meaning<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Reports what is wrong with the terms at `allowedTopologies`.
pub(super) fn check(terms: &[TopologySelectorTerm], errors: &mut FieldErrors) {
    // Kubernetes compares with as many empty terms as there are terms before it compares with the terms.
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
