//! Conditions that must be met before a pod is bound to a node.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;

use super::list::check_each;
use super::names::check_label_name;

/// Maximum number of conditions in each list.
const MAX_CONDITIONS: usize = 4;

/// Reports errors in the conditions of a device at `bindingConditions` and `bindingFailureConditions`.
pub(super) fn check_binding_conditions(good: &Vec<String>, bad: &Vec<String>, errors: &mut FieldErrors) {
    const GOOD: &str = "bindingConditions";
    const BAD: &str = "bindingFailureConditions";
    for (field, conditions) in [(GOOD, good), (BAD, bad)] {
        check_each(field, conditions, MAX_CONDITIONS, errors, |condition, errors| {
            check_label_name("", condition, errors);
        });
    }
    for (field, conditions) in [(GOOD, good), (BAD, bad)] {
        for (index, condition) in conditions.iter().enumerate() {
            let errors = &mut *errors.at_index(field, index);
            if conditions[..index].contains(condition) {
                errors.duplicate("", condition);
            }
            if field == BAD && good.contains(condition) {
                let detail = "bindingFailureConditions must not overlap with bindingConditions";
                errors.invalid("", condition, detail);
            }
        }
    }
    if good.is_empty() && !bad.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        errors.invalid(GOOD, GoValue(good), detail);
    }
    if bad.is_empty() && !good.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        errors.invalid(BAD, GoValue(bad), detail);
    }
}
