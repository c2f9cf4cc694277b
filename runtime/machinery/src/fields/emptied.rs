//! Lists and maps that a request names without anything in them.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, PoisonError, RwLock};

use serde_json::{Map, Value};

use super::element::PathElement;
use super::set::Set;
use crate::facts::{Omit, StructFacts, TypeFacts};
use crate::field_error::holds_empty;

/// The fields that the JSON in `body` sends as `[]` or `{}` although `facts` would write them as `null`.
///
/// Objects do not tell the two apart, but who sends an empty list means it, and manages the field. Elements of lists
/// are not looked into: no field in any that can be told apart is of this sort.
#[must_use]
pub fn emptied(facts: &'static StructFacts, body: &[u8]) -> Set<'static> {
    let mut out = Set::new();
    if has_any(facts)
        && holds_empty(body)
        && let Ok(Value::Object(document)) = serde_json::from_slice(body)
    {
        walk(facts, &document, &mut Vec::new(), &mut out);
    }
    out
}

/// Whether `facts` would write any field as `null` that a request may send empty; most kinds have none.
fn has_any(facts: &'static StructFacts) -> bool {
    static KNOWN: LazyLock<RwLock<HashMap<usize, bool>>> = LazyLock::new(RwLock::default);
    let address = std::ptr::from_ref(facts).addr();
    // A lock that a panic left behind still holds a whole map.
    if let Some(known) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
        return *known;
    }
    let found = looks_for_any(facts, &mut HashSet::new());
    KNOWN
        .write()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(address, found);
    found
}

fn looks_for_any(facts: &'static StructFacts, seen: &mut HashSet<usize>) -> bool {
    seen.insert(std::ptr::from_ref(facts).addr())
        && facts.fields.iter().any(|field| match field.ty.present() {
            TypeFacts::Struct(inner) if field.inline || (!field.atomic && !inner().atomic) => {
                looks_for_any(inner(), seen)
            }
            TypeFacts::List(_) | TypeFacts::Map(_) => field.omit == Omit::Never,
            _ => false,
        })
}

fn walk(
    facts: &'static StructFacts,
    document: &Map<String, Value>,
    path: &mut Vec<&'static str>,
    out: &mut Set<'static>,
) {
    for field in facts.fields {
        let ty = field.ty.present();
        if let (true, TypeFacts::Struct(inner)) = (field.inline, ty) {
            walk(inner(), document, path, out);
            continue;
        }
        let Some(value) = document.get(field.name) else {
            continue;
        };
        path.push(field.name);
        match (ty, value) {
            (TypeFacts::Struct(inner), Value::Object(value)) if !field.atomic && !inner().atomic => {
                walk(inner(), value, path, out);
            }
            (TypeFacts::List(_), Value::Array(list)) if list.is_empty() && field.omit == Omit::Never => {
                out.insert(path.iter().copied().map(PathElement::field));
            }
            (TypeFacts::Map(_), Value::Object(map)) if map.is_empty() && field.omit == Omit::Never => {
                out.insert(path.iter().copied().map(PathElement::field));
            }
            _ => {}
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::FieldFacts;

    const TEXTS: TypeFacts = TypeFacts::List(&TypeFacts::String);
    static INNER: StructFacts = StructFacts {
        fields: &[FieldFacts {
            name: "kept",
            ty: TEXTS,
            omit: Omit::Never,
            ..FieldFacts::NONE
        }],
        ..StructFacts::NONE
    };
    static OUTER: StructFacts = StructFacts {
        fields: &[
            FieldFacts {
                name: "omitted",
                ty: TEXTS,
                ..FieldFacts::NONE
            },
            FieldFacts {
                name: "spec",
                ty: TypeFacts::Struct(|| &INNER),
                ..FieldFacts::NONE
            },
        ],
        ..StructFacts::NONE
    };

    fn check(body: &str, expected: &[&[&'static str]]) {
        let expected = Set::of(expected.iter().map(|path| path.iter().copied().map(PathElement::field)));
        assert_eq!(emptied(&OUTER, body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn kinds_without_such_fields_are_known() {
        static NONE: StructFacts = StructFacts {
            fields: &[FieldFacts {
                name: "omitted",
                ty: TEXTS,
                ..FieldFacts::NONE
            }],
            ..StructFacts::NONE
        };
        assert!(has_any(&OUTER) && has_any(&OUTER));
        assert!(!has_any(&NONE) && !has_any(&NONE));
    }

    #[test]
    fn only_fields_that_are_written_when_empty_count() {
        check(r#"{"omitted":[],"spec":{"kept":[ ]}}"#, &[&["spec", "kept"]]);
        check(r#"{"omitted":[],"spec":{"kept":["a"]}}"#, &[]);
        check(r#"{"spec":{"kept":null},"other":{}}"#, &[]);
        check(r#"{"spec":{}}"#, &[]);
        check("no JSON []", &[]);
    }
}
