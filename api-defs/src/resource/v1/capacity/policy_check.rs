//! Validation of the request policies of capacities.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::quantity::Quantity;

use super::{CapacityRequestPolicy, CapacityRequestPolicyRange};

/// Maximum number of values to choose from.
const MAX_VALUES: usize = 10;

impl CapacityRequestPolicy {
    /// Reports errors in the policy of a capacity with the amount `all`.
    pub(super) fn check(&self, all: &Quantity, errors: &mut FieldErrors) {
        match (self.valid_values.is_empty(), &self.valid_range) {
            (false, Some(_)) => {
                let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" \
                              at the same time";
                errors.forbidden("", detail);
            }
            (false, None) => match &self.default {
                None => errors.required("default", "required when validValues is defined"),
                Some(default) => self.check_values(default, all, errors),
            },
            (true, Some(range)) => match &self.default {
                None => errors.required("default", "required when validRange is defined"),
                Some(default) => range.check(default, all, &mut errors.at("validRange")),
            },
            (true, None) => {}
        }
    }

    fn check_values(&self, default: &Quantity, all: &Quantity, errors: &mut FieldErrors) {
        const FIELD: &str = "validValues";
        let values = &self.valid_values;
        for (index, pair) in values.windows(2).enumerate() {
            if let [less, more] = pair
                && less > more
            {
                let errors = &mut *errors.at_index(FIELD, index + 1);
                errors.invalid("", more.as_str(), "values must be sorted in ascending order");
            }
        }
        if values.len() > MAX_VALUES {
            errors.too_many(FIELD, values.len(), MAX_VALUES as u64);
        } else {
            for (index, value) in values.iter().enumerate().filter(|(_, value)| *value > all) {
                let detail = format!("option is larger than capacity value: {all}");
                errors.at_index(FIELD, index).invalid("", value.as_str(), detail);
            }
            for (index, value) in values.iter().enumerate() {
                if values[..index].iter().any(|other| other.value() == value.value()) {
                    let whole = value.value().to_string();
                    errors.at_index(FIELD, index).duplicate("", whole);
                }
            }
        }
        // An oversized list is not searched.
        if values.len() > MAX_VALUES || !values.contains(default) {
            let detail = "default value is not valid according to the requestPolicy";
            errors.invalid(FIELD, default.as_str(), detail);
        }
    }
}

impl CapacityRequestPolicyRange {
    fn check(&self, default: &Quantity, all: &Quantity, errors: &mut FieldErrors) {
        let Some(min) = &self.min else {
            return errors.required("min", "required when validRange is defined");
        };
        if min > all {
            errors.invalid("min", min.as_str(), format!("min is larger than capacity value: {all}"));
        }
        if default < min {
            errors.invalid("min", default.as_str(), format!("default is less than min: {min}"));
        }
        if let Some(max) = &self.max {
            if min > max {
                errors.invalid("max", min.as_str(), format!("min is larger than max: {max}"));
            }
            if max > all {
                errors.invalid("max", max.as_str(), format!("max is larger than capacity value: {all}"));
            }
            if default > max {
                errors.invalid("max", default.as_str(), format!("default is more than max: {max}"));
            }
        }
        let Some(step) = &self.step else { return };
        if let Some(sum) = min.checked_add(step)
            && sum > *all
        {
            let detail = format!("one step {sum} is larger than capacity value: {all}");
            errors.invalid("step", step.as_str(), detail);
        }
        for value in [Some(default), self.max.as_ref()].into_iter().flatten() {
            check_step(value, min, step, errors);
        }
    }
}

/// Reports a value that is not a multiple of `step` above `min`, calculated in integers.
fn check_step(value: &Quantity, min: &Quantity, step: &Quantity, errors: &mut FieldErrors) {
    let distance = value.value().checked_sub(min.value());
    let whole = distance.is_some_and(|distance| distance.checked_rem(step.value()) == Some(0));
    if !whole {
        let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
        errors.invalid("step", value.as_str(), detail);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> Quantity {
        text.parse().expect("a quantity")
    }

    fn messages(policy: &CapacityRequestPolicy) -> Vec<String> {
        let mut errors = FieldErrors::default();
        policy.check(&quantity("10Gi"), &mut errors);
        errors.as_slice().iter().map(|error| error.message()).collect()
    }

    fn ranged(default: &str, step: &str) -> CapacityRequestPolicy {
        CapacityRequestPolicy {
            default: Some(quantity(default)),
            valid_values: Vec::new(),
            valid_range: Some(CapacityRequestPolicyRange {
                min: Some(quantity("1Gi")),
                max: None,
                step: Some(quantity(step)),
            }),
        }
    }

    #[test]
    fn defaults_are_whole_steps_from_the_least() {
        assert!(messages(&ranged("3Gi", "1Gi")).is_empty());
        let expected =
            "validRange.step: Invalid value: \"2Gi\": value is not a multiple of a given step (2Gi) from (1Gi)";
        assert_eq!(messages(&ranged("2Gi", "2Gi")), [expected]);
    }

    #[test]
    fn defaults_outside_of_the_range_are_reported_at_its_ends() {
        let expected = "validRange.min: Invalid value: \"512Mi\": default is less than min: 1Gi";
        assert_eq!(messages(&ranged("512Mi", "512Mi")), [expected]);
    }

    #[test]
    fn steps_of_nothing_are_refused_and_not_divided_by() {
        assert_eq!(messages(&ranged("2Gi", "0")).len(), 1);
    }

    #[test]
    fn values_rise_and_hold_the_default() {
        let policy = CapacityRequestPolicy {
            default: Some(quantity("3Gi")),
            valid_values: vec![quantity("2Gi"), quantity("1Gi"), quantity("20Gi")],
            valid_range: None,
        };
        let fields: Vec<String> = messages(&policy);
        assert_eq!(fields.len(), 3, "{fields:?}");
    }
}
