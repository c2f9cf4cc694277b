//! Lists and maps that a client sends with nothing in them.

use std::borrow::Cow;

use bytes::Bytes;
use serde_json::Value;

use super::FieldErrors;

/// The parts of objects, which are no maps: what is shown as `null` there is something else.
const PARTS: [&str; 3] = ["metadata", "spec", "status"];

/// A body in which a client may have sent `[]` or `{}`. Objects do not tell that from nothing, but messages about it do:
/// what is not there is shown as `null`.
///
/// The body is looked into when there is something wrong with the object, and only where.
#[derive(Clone, Debug, Default)]
pub struct SentEmpty(Bytes);

/// An error whose value is shown as `null`: its field, and what the client sent there if it sent something empty.
struct Sought<'e> {
    field: &'e str,
    index: usize,
    sent: Option<&'static str>,
}

impl SentEmpty {
    /// Keeps a body in JSON, unless nothing in it is empty.
    #[must_use]
    pub fn new(json: &Bytes) -> Self {
        match holds_empty(json) {
            true => Self(json.clone()),
            false => Self::default(),
        }
    }

    /// The errors as the client is to see them.
    #[must_use]
    pub fn shown_in<'e>(&self, errors: &'e FieldErrors) -> Cow<'e, FieldErrors> {
        let mut shown = Cow::Borrowed(errors);
        let null = errors
            .errors
            .iter()
            .enumerate()
            .filter(|(_, error)| error.value == "null" && !PARTS.contains(&error.field.as_str()));
        let mut sought: Vec<Sought<'_>> = null
            .map(|(index, error)| Sought {
                field: &error.field,
                index,
                sent: None,
            })
            .collect();
        if self.0.is_empty() || sought.is_empty() {
            return shown;
        }
        let Ok(document) = serde_json::from_slice(&self.0) else {
            return shown;
        };
        sought.sort_unstable_by_key(|sought| sought.field);
        look_at(&document, 0, &mut sought);
        for Sought { index, sent, .. } in sought {
            if let Some(sent) = sent {
                sent.clone_into(&mut shown.to_mut().errors[index].value);
            }
        }
        shown
    }
}

/// Looks for the fields of `sought` in `value`, whose own path is the first `at` bytes of each of them. They are sorted.
/// Members that lead to none are passed by, however many there are and however long their names.
fn look_at(value: &Value, at: usize, sought: &mut [Sought<'_>]) {
    match value {
        Value::Array(list) if list.is_empty() => found(at, sought, "[]"),
        Value::Object(map) if map.is_empty() => found(at, sought, "{}"),
        Value::Array(list) => {
            for (index, element) in list.iter().enumerate() {
                look_below(element, at, &format!("[{index}]"), sought);
            }
        }
        Value::Object(map) => {
            let dot = if at == 0 { "" } else { "." };
            let members = below(sought, at, dot);
            for (name, member) in map {
                look_below(member, at + dot.len(), name, members);
            }
        }
        _ => {}
    }
}

fn look_below(value: &Value, at: usize, step: &str, sought: &mut [Sought<'_>]) {
    let sought = below(sought, at, step);
    if !sought.is_empty() {
        look_at(value, at + step.len(), sought);
    }
}

/// Those that go on with `step` after the first `at` bytes, which they have in common.
fn below<'s, 'e>(sought: &'s mut [Sought<'e>], at: usize, step: &str) -> &'s mut [Sought<'e>] {
    let step = step.as_bytes();
    let start = sought.partition_point(|sought| &sought.field.as_bytes()[at..] < step);
    let sought = &mut sought[start..];
    let end = sought.partition_point(|sought| sought.field.as_bytes()[at..].starts_with(step));
    &mut sought[..end]
}

fn found(at: usize, sought: &mut [Sought<'_>], shown: &'static str) {
    for sought in sought.iter_mut().filter(|sought| sought.field.len() == at) {
        sought.sent = Some(shown);
    }
}

/// Whether anything in JSON text looks empty; most bodies need no second reading.
pub(crate) fn holds_empty(json: &[u8]) -> bool {
    let mut significant = json.iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut last = 0;
    significant.any(|&byte| matches!((std::mem::replace(&mut last, byte), byte), (b'[', b']') | (b'{', b'}')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field_error::Json;

    fn check(body: &str, expected: &[(&str, &str)]) {
        let sent = SentEmpty::new(&Bytes::copy_from_slice(body.as_bytes()));
        let mut errors = FieldErrors::default();
        for (field, _) in expected {
            errors.invalid(field, Json("null"), "");
        }
        let shown = sent.shown_in(&errors);
        let shown = shown
            .as_slice()
            .iter()
            .map(|error| (error.field.as_str(), error.value.as_str()));
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{body}");
    }

    #[test]
    fn only_what_was_sent_is_shown_as_empty() {
        check(
            r#"{"spec":{"labels":{},"ports":[{"names":[]}],"count":0}}"#,
            &[
                ("spec.labels", "{}"),
                ("spec.ports[0].names", "[]"),
                ("spec.other", "null"),
                ("spec.labels", "{}"),
                ("spec.lab", "null"),
            ],
        );
        check("{}", &[("spec", "null"), ("", "{}")]);
        check(r#"{"spec":{}}"#, &[("spec", "null")]);
    }

    #[test]
    fn names_may_look_like_paths() {
        check(
            r#"{"a":{"b.c":[],"b":{"d":{}},"":{"e":[]}},"a.b":{"f":{}},"a.é":[]}"#,
            &[
                ("a.b.c", "[]"),
                ("a.b.d", "{}"),
                ("a.b.f", "{}"),
                ("a..e", "[]"),
                ("a.é", "[]"),
                ("a.b", "null"),
            ],
        );
    }

    #[test]
    fn long_names_before_many_empty_values_cost_nothing() {
        let name = "k".repeat(100_000);
        let body = format!(r#"{{"{name}":[{}{{}}]}}"#, "{},".repeat(30_000));
        let fields = [format!("{name}[29999]"), format!("{name}[30001]"), "other".to_owned()];
        check(
            &body,
            &[
                (fields[0].as_str(), "{}"),
                (fields[1].as_str(), "null"),
                (fields[2].as_str(), "null"),
            ],
        );
    }
}
