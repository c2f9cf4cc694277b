//! Checks of the content of texts, lists and objects.

use std::collections::HashSet;

use planesmith_machinery::field_error::{BadValue, FieldErrorKind, counted};
use planesmith_machinery::json::encode_value;
use planesmith_wire::go_format::quote;
use serde_json::{Map, Value};

use super::super::{Additional, Structural};
use super::{OldElements, Outcome, Subject, TYPE_META, ValuePath};

impl Structural {
    pub(super) fn check_text(&self, text: &str, subject: Subject<'_, '_>, outcome: &mut Outcome) {
        let Some(limits) = &self.limits else { return };
        let location = subject.location;
        // Counting is needed only where the bytes do not decide.
        let length = || text.chars().count() as u64;
        let too_long = |max: &i64| match u64::try_from(*max) {
            Ok(max) => text.len() as u64 > max && length() > max,
            Err(_) => true,
        };
        if let Some(max) = limits.max_length.filter(too_long) {
            let detail = match u64::try_from(max) {
                Ok(max) => counted("may not be more than", max, "byte"),
                Err(_) => "value is too long".to_owned(),
            };
            outcome.add(location.to_string(), FieldErrorKind::TooLong, String::new(), detail);
        } else if let Some(min) = limits.min_length
            && length() < min
        {
            outcome.invalid(location, quote(text), &format!("should be at least {min} chars long"));
        } else if let Some(pattern) = &limits.pattern {
            let Some(left) = subject.steps.get().checked_sub(pattern.steps(text.len())) else {
                let rule = format!(
                    "should match '{}', which takes too long for so much text",
                    pattern.text()
                );
                return outcome.invalid(location, quote(text), &rule);
            };
            subject.steps.set(left);
            match pattern.matches(text) {
                Ok(true) => {}
                Ok(false) => outcome.invalid(location, quote(text), &format!("should match '{}'", pattern.text())),
                Err(problem) => outcome.invalid(
                    location,
                    quote(text),
                    &format!("should match '{}, but pattern is invalid: {problem}'", pattern.text()),
                ),
            }
        }
    }

    /// Checks the format of a text. True if it has one.
    pub(super) fn check_format(&self, text: &str, location: &ValuePath<'_>, outcome: &mut Outcome) -> bool {
        let Some(format) = self.format().filter(|format| format.is_of_text()) else {
            return false;
        };
        if !format.holds(text) {
            outcome.wrong_type(location, format.name(), text);
        }
        true
    }

    pub(super) fn check_list(&self, elements: &[Value], subject: Subject<'_, '_>, outcome: &mut Outcome) {
        if let Some(items) = &self.items {
            let old_elements = OldElements::new(self, subject.old);
            for (index, element) in elements.iter().enumerate() {
                if outcome.is_full() {
                    return;
                }
                outcome.merge(
                    items.check(Subject {
                        value: element,
                        old: old_elements
                            .as_ref()
                            .and_then(|old_elements| old_elements.find(element)),
                        location: &ValuePath::Element(subject.location, index),
                        steps: subject.steps,
                    }),
                );
            }
        }
        let Some(limits) = &self.limits else { return };
        let count = elements.len();
        if let Some(min) = limits.min_items
            && (count as u64) < min
        {
            let rule = format!("should have at least {min} items");
            outcome.invalid(subject.location, count.to_string(), &rule);
        }
        if let Some(max) = limits.max_items {
            check_most(count, max, subject.location, outcome);
        }
        if limits.unique_items && has_duplicates(elements) {
            outcome.invalid(subject.location, "\"\"".to_owned(), "shouldn't contain duplicates");
        }
    }

    pub(super) fn check_object(&self, entries: &Map<String, Value>, subject: Subject<'_, '_>, outcome: &mut Outcome) {
        let location = subject.location;
        if let Some(limits) = &self.limits {
            let count = entries.len();
            if let Some(min) = limits.min_properties
                && (count as u64) < min
            {
                let rule = format!("should have at least {min} properties");
                outcome.invalid(location, count.to_string(), &rule);
            }
            if let Some(max) = limits.max_properties {
                check_most(count, max, location, outcome);
            }
        }
        if self.additional == Additional::Refused {
            self.check_names(entries, location, outcome);
        }
        let old_entries = subject.old.and_then(Value::as_object);
        let old = |name: &str| match location.is_root() && TYPE_META.contains(&name) {
            true => None,
            false => old_entries?.get(name),
        };
        if let Additional::Typed(additional) = &self.additional {
            for (name, value) in entries {
                if outcome.is_full() {
                    return;
                }
                if !self.properties.contains(name) {
                    outcome.merge(additional.check(Subject {
                        value,
                        old: old(name),
                        location: &ValuePath::Entry(location, name),
                        steps: subject.steps,
                    }));
                }
            }
        }
        if !self.properties.is_empty() {
            for (name, value) in entries {
                if outcome.is_full() {
                    return;
                }
                if let Some(property) = self.properties.get(name) {
                    outcome.merge(property.check(Subject {
                        value,
                        old: old(name),
                        location: &ValuePath::Field(location, name),
                        steps: subject.steps,
                    }));
                }
            }
        }
        let required = self.limits.iter().flat_map(|limits| &limits.required);
        for name in required.filter(|name| !entries.contains_key(&***name)) {
            let location = ValuePath::Entry(location, name).to_string();
            outcome.add(location, FieldErrorKind::Required, String::new(), String::new());
        }
    }
}

impl Structural {
    /// Refuses the fields of an object that the schema does not name.
    fn check_names(&self, entries: &Map<String, Value>, location: &ValuePath<'_>, outcome: &mut Outcome) {
        for name in entries.keys().filter(|name| !self.properties.contains(name)) {
            if outcome.is_full() {
                return;
            }
            let detail = format!("{} in body is a forbidden property", ValuePath::Entry(location, name));
            outcome.add(location.to_string(), FieldErrorKind::Invalid, quote(name), detail);
        }
    }
}

fn check_most(count: usize, max: i64, location: &ValuePath<'_>, outcome: &mut Outcome) {
    let detail = match u64::try_from(max) {
        Ok(max) if count as u64 <= max => return,
        Ok(max) => counted("must have at most", max, "item"),
        Err(_) => "has too many items".to_owned(),
    };
    outcome.add(location.to_string(), FieldErrorKind::TooMany, count.to_string(), detail);
}

fn has_duplicates(elements: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(elements.len());
    !elements.iter().all(|element| seen.insert(element))
}

/// True if a value equals `allowed` once it is converted to the same type: numbers lose their fractions that way, and integers
/// become characters.
pub(super) fn equals(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) => false,
        (Value::Number(number), Value::Number(allowed)) => match (number.as_i64(), allowed.as_i64()) {
            (Some(number), Some(allowed)) => number == allowed,
            (None, Some(allowed)) => number.as_f64().is_some_and(|number| whole_part(number) == allowed),
            (_, None) => number.as_f64() == allowed.as_f64(),
        },
        (Value::Number(number), Value::String(allowed)) => {
            let code = number.as_u64().and_then(|code| u32::try_from(code).ok());
            let mut characters = allowed.chars();
            let only = characters.next().filter(|_| characters.next().is_none());
            code.and_then(char::from_u32).is_some_and(|code| Some(code) == only)
        }
        (value, allowed) => value == allowed,
    }
}

/// A number without its fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what does not fit equals no value that is allowed"
)]
pub(super) fn whole_part(number: f64) -> i64 {
    number as i64
}

/// A value that is allowed, as messages list it.
pub(super) fn quoted(allowed: &Value) -> String {
    match allowed {
        Value::String(text) => quote(text),
        other => {
            let mut json = Vec::new();
            encode_value(other, &mut json);
            quote(&String::from_utf8_lossy(&json))
        }
    }
}

/// A value as messages show it.
pub(super) fn rendered(value: &Value) -> String {
    value.rendered()
}
