//! Rules for conditions of the common type.

use std::collections::HashSet;

use planesmith_wire::names::{pattern_complaint, qualified_name};

use crate::field_error::FieldErrors;
use crate::meta::Condition;

const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const REASON_FORMAT: &str = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const MAX_REASON: usize = 1024;
const MAX_MESSAGE: usize = 32 * 1024;

/// Reports errors of the conditions in the list `field`.
pub fn check_conditions(errors: &mut FieldErrors, field: &str, conditions: &[Condition]) {
    let mut types = HashSet::with_capacity(conditions.len());
    for (index, condition) in conditions.iter().enumerate() {
        let errors = &mut *errors.at_index(field, index);
        if !types.insert(&condition.r#type) {
            errors.duplicate("type", &condition.r#type);
        }
        check_condition(condition, errors);
    }
}

fn check_condition(condition: &Condition, errors: &mut FieldErrors) {
    for complaint in qualified_name(&condition.r#type) {
        errors.invalid("type", &condition.r#type, complaint);
    }
    if !STATUSES.contains(&condition.status.as_str()) {
        errors.not_supported("status", &condition.status, &STATUSES);
    }
    if condition.observed_generation < 0 {
        errors.invalid(
            "observedGeneration",
            condition.observed_generation,
            "must be greater than or equal to zero",
        );
    }
    if condition.last_transition_time.is_zero() {
        errors.required("lastTransitionTime", "");
    }
    check_reason(&condition.reason, errors);
    if condition.message.len() > MAX_MESSAGE {
        errors.too_long("message", MAX_MESSAGE as u64);
    }
}

fn check_reason(reason: &str, errors: &mut FieldErrors) {
    if reason.is_empty() {
        errors.required("reason", "");
        return;
    }
    if !is_reason(reason.as_bytes()) {
        let rule = "a condition reason must start with alphabetic character, optionally followed by a string of \
                    alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
        let examples = ["my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"];
        errors.invalid("reason", reason, pattern_complaint(rule, REASON_FORMAT, &examples));
    }
    if reason.len() > MAX_REASON {
        errors.too_long("reason", MAX_REASON as u64);
    }
}

fn is_reason(reason: &[u8]) -> bool {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    match reason {
        [first] => first.is_ascii_alphabetic(),
        [first, middle @ .., last] => {
            first.is_ascii_alphabetic()
                && word(last)
                && middle.iter().all(|byte| word(byte) || matches!(byte, b',' | b':'))
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planesmith_wire::time::Time;

    fn condition(reason: &str) -> Condition {
        Condition {
            r#type: "Ready".to_owned(),
            status: "True".to_owned(),
            last_transition_time: Time::from_second(1),
            reason: reason.to_owned(),
            ..Condition::default()
        }
    }

    fn fields(conditions: &[Condition]) -> Vec<String> {
        let mut errors = FieldErrors::default();
        check_conditions(&mut errors, "status.conditions", conditions);
        errors.as_slice().iter().map(|error| error.field.clone()).collect()
    }

    #[test]
    fn complete_conditions_pass() {
        assert_eq!(fields(&[condition("Fine")]), Vec::<String>::new());
        assert_eq!(fields(&[condition("A:b,c_")]), Vec::<String>::new());
    }

    #[test]
    fn everything_that_is_missing_is_reported_in_order() {
        let empty = Condition::default();
        let parts = ["type", "type", "status", "lastTransitionTime", "reason"];
        let wanted: Vec<String> = parts
            .iter()
            .map(|part| format!("status.conditions[0].{part}"))
            .collect();
        assert_eq!(fields(&[empty]), wanted);
    }

    #[test]
    fn one_type_stands_once() {
        let both = [condition("Fine"), condition("Not:")];
        assert_eq!(
            fields(&both),
            ["status.conditions[1].type", "status.conditions[1].reason"]
        );
    }
}
