//! One requirement of a label selector.

use std::fmt;

use planesmith_wire::names;

use super::LabelSelectorError;
use crate::field_error::FieldErrors;

/// A requirement for one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    /// Sorted and without duplicates.
    values: Vec<String>,
    /// The value as a number, for `>` and `<`.
    bound: i64,
}

/// The comparison of a label with the values of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The label is present and has one of the values.
    In,
    /// The label is absent or has none of the values.
    NotIn,
    /// `=`: as `In`, with one value.
    Equals,
    /// `==`: as `Equals`.
    DoubleEquals,
    /// `!=`: as `NotIn`, with one value.
    NotEquals,
    /// The label is present.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is an integer greater than the value.
    GreaterThan,
    /// The label is an integer less than the value.
    LessThan,
}

impl Requirement {
    /// Returns the requirement that `key` relates to `values` by `operator`.
    ///
    /// # Errors
    ///
    /// If the key or a value is not legal, or there are too many or too few values.
    pub fn new(
        key: impl Into<String>,
        operator: Operator,
        values: impl IntoIterator<Item = String>,
    ) -> Result<Self, LabelSelectorError> {
        let (key, mut values) = (key.into(), values.into_iter().collect::<Vec<_>>());
        let mut errors = FieldErrors::default();
        check_key(&key, "key", &mut errors);
        let bound = check_values(&key, operator, &values, &mut errors);
        values.sort_unstable();
        values.dedup();
        match errors.joined() {
            None => Ok(Self {
                key,
                operator,
                values,
                bound,
            }),
            Some(message) => Err(LabelSelectorError(message)),
        }
    }

    /// Returns the requirement that `key` has this value, without validation.
    #[must_use]
    pub fn equals(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            operator: Operator::Equals,
            values: vec![value.into()],
            bound: 0,
        }
    }

    /// Returns the key of the label.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the operator.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// Returns the values that the label is compared with, sorted and without duplicates.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// True if a label with this value, or an absent label, meets the requirement.
    #[must_use]
    pub fn matches(&self, value: Option<&str>) -> bool {
        let has = |value: &str| self.values.iter().any(|wanted| wanted == value);
        match self.operator {
            Operator::In | Operator::Equals | Operator::DoubleEquals => value.is_some_and(has),
            Operator::NotIn | Operator::NotEquals => !value.is_some_and(has),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan => value.and_then(whole_number).is_some_and(|number| number > self.bound),
            Operator::LessThan => value.and_then(whole_number).is_some_and(|number| number < self.bound),
        }
    }
}

pub(super) fn check_key(key: &str, path: &str, errors: &mut FieldErrors) {
    let complaints = names::qualified_name(key);
    if !complaints.is_empty() {
        errors.invalid(path, key, complaints.join("; "));
    }
}

/// Returns the bound of `>` and `<`.
fn check_values(key: &str, operator: Operator, values: &[String], errors: &mut FieldErrors) -> i64 {
    let mut bound = 0;
    match operator {
        Operator::In | Operator::NotIn if values.is_empty() => {
            errors.invalid(
                "values",
                values,
                "for 'in', 'notin' operators, values set can't be empty",
            );
        }
        Operator::Equals | Operator::DoubleEquals | Operator::NotEquals if values.len() != 1 => {
            errors.invalid("values", values, "exact-match compatibility requires one single value");
        }
        Operator::Exists | Operator::DoesNotExist if !values.is_empty() => {
            errors.invalid(
                "values",
                values,
                "values set must be empty for exists and does not exist",
            );
        }
        Operator::GreaterThan | Operator::LessThan => {
            if values.len() != 1 {
                errors.invalid(
                    "values",
                    values,
                    "for 'Gt', 'Lt' operators, exactly one value is required",
                );
            }
            for (index, value) in values.iter().enumerate() {
                match whole_number(value) {
                    Some(number) => bound = number,
                    None => errors.at_index("values", index).invalid(
                        "",
                        value,
                        "for 'Gt', 'Lt' operators, the value must be an integer",
                    ),
                }
            }
        }
        _ => {}
    }
    for (index, value) in values.iter().enumerate() {
        let complaints = names::label_value(value);
        if !complaints.is_empty() {
            errors
                .at_index("values", index)
                .at_key("", key)
                .invalid("", value, complaints.join("; "));
        }
    }
    bound
}

/// Parses a 64-bit integer in decimal digits, as Go's `strconv.ParseInt` does.
fn whole_number(text: &str) -> Option<i64> {
    text.parse().ok()
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, values) = (&self.key, self.values.join(","));
        match self.operator {
            Operator::In => write!(f, "{key} in ({values})"),
            Operator::NotIn => write!(f, "{key} notin ({values})"),
            Operator::Equals => write!(f, "{key}={values}"),
            Operator::DoubleEquals => write!(f, "{key}=={values}"),
            Operator::NotEquals => write!(f, "{key}!={values}"),
            Operator::GreaterThan => write!(f, "{key}>{values}"),
            Operator::LessThan => write!(f, "{key}<{values}"),
            Operator::Exists => f.write_str(key),
            Operator::DoesNotExist => write!(f, "!{key}"),
        }
    }
}
