//! Lists with a maximum length and named elements.

use std::collections::BTreeSet;

use planesmith_machinery::field_error::FieldErrors;

/// Checks each element of the list `field`, unless it has more than `max` elements.
pub(crate) fn check_each<T>(
    field: &str,
    list: &[T],
    max: usize,
    errors: &mut FieldErrors,
    mut check: impl FnMut(&T, &mut FieldErrors),
) {
    if list.len() > max {
        return errors.too_many(field, list.len(), max as u64);
    }
    for (index, element) in list.iter().enumerate() {
        check(element, &mut errors.at_index(field, index));
    }
}

/// Checks like `check_each`, and reports elements with duplicate names.
pub(crate) fn check_named<'a, T>(
    field: &str,
    list: &'a [T],
    max: usize,
    name: impl Fn(&'a T) -> &'a str,
    errors: &mut FieldErrors,
    check: impl FnMut(&T, &mut FieldErrors),
) {
    check_each(field, list, max, errors, check);
    if list.len() > max {
        return;
    }
    let mut names = BTreeSet::new();
    for (index, element) in list.iter().enumerate() {
        let name = name(element);
        if !names.insert(name) {
            errors.at_index(field, index).duplicate("", name);
        }
    }
}
