//! Converts constraints of schemas.

use planesmith_codegen_core::structure::pattern_problem;
use serde_json::Value;

use super::words::Words;
use crate::import::draft::{listed, literal};

/// The constraints of a type's values, as keys of `#[field(...)]`.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    pub(super) keys: Vec<String>,
    /// True if empty strings or lists are refused.
    pub(super) refuses_empty: bool,
}

impl Bounds {
    pub(super) fn of_text(words: &mut Words<'_>) -> Self {
        let mut bounds = Self::default();
        if let Some(choices) = words.take_as("enum", choices) {
            bounds.refuses_empty |= !choices.iter().any(String::is_empty);
            bounds.keys.push(listed("one_of", &choices));
        }
        bounds.length(words, "minLength", "maxLength");
        let pattern = words.take_as("pattern", |pattern| {
            pattern.as_str().filter(|pattern| pattern_problem(pattern).is_none())
        });
        if let Some(pattern) = pattern {
            bounds.keys.push(format!("pattern = {}", literal(pattern)));
        }
        bounds
    }

    pub(super) fn of_number(words: &mut Words<'_>) -> Self {
        let mut bounds = Self::default();
        for word in ["minimum", "maximum"] {
            if let Some(number) = words.take_as(word, whole) {
                bounds.keys.push(format!("{word} = {number}"));
            }
        }
        bounds
    }

    /// Returns the bounds of a list or map, including those of its elements.
    pub(super) fn of_many(words: &mut Words<'_>, least: &str, most: &str, inner: &Bounds) -> Self {
        let mut bounds = Self::default();
        bounds.length(words, least, most);
        if !inner.keys.is_empty() {
            bounds.keys.push(format!("each({})", inner.keys.join(", ")));
        }
        bounds
    }

    fn length(&mut self, words: &mut Words<'_>, least: &str, most: &str) {
        if let Some(length) = words.take_as(least, Value::as_u64).filter(|length| *length > 0) {
            self.refuses_empty = true;
            self.keys.push(format!("min_length = {length}"));
        }
        if let Some(length) = words.take_as(most, Value::as_u64) {
            self.keys.push(format!("max_length = {length}"));
        }
    }
}

/// Returns the strings of an enumeration without duplicates; `None` if it contains other values.
fn choices(list: &Value) -> Option<Vec<String>> {
    let mut choices: Vec<String> = Vec::new();
    for choice in list.as_array()? {
        let choice = choice.as_str()?;
        if !choices.iter().any(|known| known == choice) {
            choices.push(choice.to_owned());
        }
    }
    (!choices.is_empty()).then_some(choices)
}

/// Returns an integer, which can be written as `1.0`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "only numbers that are the same afterwards are taken"
)]
fn whole(number: &Value) -> Option<i64> {
    number.as_i64().or_else(|| {
        let number = number.as_f64()?;
        let whole = number as i64;
        (whole as f64 == number && whole.unsigned_abs() < 1 << 53).then_some(whole)
    })
}
