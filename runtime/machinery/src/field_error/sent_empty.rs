//! Empty lists and maps in request bodies.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use planesmith_wire::json::{Malformed, Next, Reader, encode_text};
use serde_json::{Map, Value};

use super::{FieldError, FieldErrors};
use crate::facts::{StructFacts, TypeFacts};
use crate::value::{Struct, View};

/// Top-level struct fields of objects: a `null` in an error about one of them is not an empty map.
const PARTS: [&str; 3] = ["metadata", "spec", "status"];

/// Bytes up to which a body is stored without a search for empty values, which would cost more than the memory.
const MAX_UNSEARCHED: usize = 64 << 10;

/// The document of an object as a request sends it, or as a patch leaves it, which may contain `[]`, `{}` or `""`. Typed
/// objects do not distinguish these from absent values, but error messages do: an absent value is printed as `null`.
///
/// The document is parsed only if the object has errors or its kind counts empty values, and searched only at the fields
/// of errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentEmpty {
    document: Document,
    /// The type of the document.
    facts: Option<Type>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Document {
    /// There are no empty values.
    #[default]
    None,
    /// JSON.
    Text(Bytes),
    Tree(Arc<Value>),
}

/// The type of a document, which is equal to any other: it follows from the object.
#[derive(Clone, Copy, Debug)]
struct Type(&'static StructFacts);

impl PartialEq for Type {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Type {}

/// An error whose value contains `null`: its field, and the value in the request body.
struct Sought<'e, 'd> {
    field: &'e str,
    index: usize,
    sent: Option<&'d Value>,
}

impl SentEmpty {
    /// Returns the document of a request that sends nothing empty.
    #[must_use]
    pub fn nothing() -> &'static Self {
        static NOTHING: SentEmpty = SentEmpty {
            document: Document::None,
            facts: None,
        };
        &NOTHING
    }

    /// Stores the JSON of an object with `facts`.
    #[must_use]
    pub fn new(facts: &'static StructFacts, json: &Bytes) -> Self {
        match json.len() <= MAX_UNSEARCHED || may_hold_empty(json) {
            true => Self {
                document: Document::Text(json.clone()),
                facts: Some(Type(facts)),
            },
            false => Self::default(),
        }
    }

    /// Stores the document that is applied to an object with `facts`.
    #[must_use]
    pub fn of_tree(facts: &'static StructFacts, document: &Arc<Value>) -> Self {
        Self {
            document: Document::Tree(Arc::clone(document)),
            facts: Some(Type(facts)),
        }
    }

    /// Returns the document; `None` if it contains no empty values.
    ///
    /// A struct that was sent as `{}` is set, and absent only if the server dropped it. It is `null` here.
    fn document(&self) -> Option<Value> {
        let mut document = match &self.document {
            Document::Text(json) if may_hold_empty(json) => serde_json::from_slice(json).ok()?,
            Document::Tree(tree) => Value::clone(tree),
            Document::None | Document::Text(_) => return None,
        };
        if let Some(Type(facts)) = self.facts {
            nullify_structs_in(&mut document, facts);
        }
        Some(document)
    }

    /// Returns `json`, an object with this document, with the empty values of the document in place of `null`; `None` if it has no
    /// such value. The result of `count`, which counts the memory of the parsed document, is dropped together with that.
    ///
    /// # Errors
    ///
    /// Those of `count`.
    pub fn restored_in<C, E>(
        &self,
        json: &[u8],
        count: impl FnOnce(&Value) -> Result<C, E>,
    ) -> Result<Option<Vec<u8>>, E> {
        const NULL: &[u8] = b":null";
        if !json.windows(NULL.len()).any(|part| part == NULL) {
            return Ok(None);
        }
        let Some(document) = self.document() else {
            return Ok(None);
        };
        let _counted = count(&document)?;
        Ok(Refill::of(json, &document, Names::Json))
    }

    /// True if a list or a map of `object`, whose document this is, is sent empty and is empty, wherever it is but in the
    /// fields `ignored` at the top.
    #[must_use]
    pub fn has_any_except(&self, ignored: &[&str], object: &dyn Struct) -> bool {
        match &self.document {
            Document::None => false,
            Document::Text(json) => {
                holds_empty(json)
                    && serde_json::from_slice(json).is_ok_and(|document| has_empty_in(object, &document, ignored))
            }
            Document::Tree(document) => has_empty_in(object, document, ignored),
        }
    }

    /// True if the body has an empty list or map at `field`. Reads the whole body.
    #[must_use]
    pub fn contains(&self, field: &str) -> bool {
        let Some(document) = self.document() else {
            return false;
        };
        let mut sought = [Sought {
            field,
            index: 0,
            sent: None,
        }];
        find_in(&document, 0, &mut sought);
        match sought[0].sent {
            Some(Value::Array(list)) => list.is_empty(),
            Some(Value::Object(map)) => map.is_empty(),
            _ => false,
        }
    }

    /// Returns the errors for the client, with empty values in place of `null` where the body has them. `count` is that of
    /// [`SentEmpty::restored_in`].
    ///
    /// # Errors
    ///
    /// Those of `count`.
    pub fn rendered<'e, C, E>(
        &self,
        errors: &'e FieldErrors,
        count: impl FnOnce(&Value) -> Result<C, E>,
    ) -> Result<Cow<'e, FieldErrors>, E> {
        let mut shown = Cow::Borrowed(errors);
        let null = errors.errors.iter().enumerate().filter(|(_, error)| shows_null(error));
        let mut sought: Vec<Sought<'_, '_>> = null
            .map(|(index, error)| Sought {
                field: &error.field,
                index,
                sent: None,
            })
            .collect();
        if sought.is_empty() {
            return Ok(shown);
        }
        let Some(document) = self.document() else {
            return Ok(shown);
        };
        let _counted = count(&document)?;
        sought.sort_unstable_by_key(|sought| sought.field);
        find_in(&document, 0, &mut sought);
        for Sought { index, sent, .. } in sought {
            let value = &errors.errors[index].value;
            if let Some(with_empty) = sent.and_then(|sent| emptied(value, sent)) {
                shown.to_mut().errors[index].value = with_empty;
            }
        }
        Ok(shown)
    }
}

fn has_empty_in(object: &dyn Struct, document: &Value, ignored: &[&str]) -> bool {
    let fields = object.facts().fields.iter().enumerate();
    fields
        .map(|(index, field)| (field, object.field(index).view()))
        .any(|(field, view)| match view {
            View::Struct(inner) if field.inline => has_empty_in(inner, document, ignored),
            view => {
                let sent = document.get(field.name).filter(|_| !ignored.contains(&field.name));
                sent.is_some_and(|sent| has_empty(&view, sent))
            }
        })
}

/// True for a list or map that is sent empty, and for a value with one in it.
fn has_empty(view: &View<'_>, sent: &Value) -> bool {
    match (view, sent) {
        (View::Struct(object), sent) => has_empty_in(*object, sent, &[]),
        (View::List(list), Value::Array(sent)) if sent.is_empty() => list.is_empty(),
        (View::Map(map), Value::Object(sent)) if sent.is_empty() => map.is_empty(),
        (View::List(list), Value::Array(sent)) => {
            let elements = (0..list.len()).filter_map(|index| list.get(index));
            elements
                .zip(sent)
                .any(|(element, sent)| has_empty(&element.view(), sent))
        }
        (View::Map(map), Value::Object(sent)) => {
            let mut found = false;
            map.each(&mut |key, member| {
                found = found || sent.get(key).is_some_and(|sent| has_empty(&member.view(), sent));
            });
            found
        }
        _ => false,
    }
}

/// Replaces structs without members by `null` in the fields of `object`, which has `facts`.
fn nullify_structs_in(object: &mut Value, facts: &StructFacts) {
    for field in facts.fields {
        if let (true, TypeFacts::Struct(inner)) = (field.inline, field.ty.present()) {
            nullify_structs_in(object, inner());
        } else if let Some(value) = object.get_mut(field.name) {
            nullify_structs(value, &field.ty);
        }
    }
}

fn nullify_structs(value: &mut Value, ty: &TypeFacts) {
    match (ty.present(), value) {
        (TypeFacts::Struct(_), value @ Value::Object(_)) if value.as_object().is_some_and(Map::is_empty) => {
            *value = Value::Null;
        }
        (TypeFacts::Struct(facts), value) => nullify_structs_in(value, facts()),
        (TypeFacts::List(ty), Value::Array(list)) => list.iter_mut().for_each(|element| nullify_structs(element, ty)),
        (TypeFacts::Map(ty), Value::Object(map)) => map.values_mut().for_each(|member| nullify_structs(member, ty)),
        _ => {}
    }
}

/// True if the error prints an absent value: the value itself, or a part of it.
fn shows_null(error: &FieldError) -> bool {
    match error.value.as_str() {
        "null" => !PARTS.contains(&error.field.as_str()),
        value => value.starts_with(['{', '[']) && value.contains("null"),
    }
}

/// Searches `value` for the fields of `sought`, which are sorted. The path of `value` is the first `at` bytes of each
/// of them. Members that lead to no sought field are skipped cheaply, independent of their number and the
/// length of their names.
fn find_in<'d>(value: &'d Value, at: usize, sought: &mut [Sought<'_, 'd>]) {
    for sought in sought.iter_mut().filter(|sought| sought.field.len() == at) {
        sought.sent = Some(value);
    }
    match value {
        Value::Array(list) => {
            for (index, element) in list.iter().enumerate() {
                find_below(element, at, &format!("[{index}]"), sought);
            }
        }
        Value::Object(map) => {
            let dot = if at == 0 { "" } else { "." };
            let members = below(sought, at, dot);
            for (name, member) in map {
                find_below(member, at + dot.len(), name, members);
            }
        }
        _ => {}
    }
}

fn find_below<'d>(value: &'d Value, at: usize, step: &str, sought: &mut [Sought<'_, 'd>]) {
    let sought = below(sought, at, step);
    if !sought.is_empty() {
        find_in(value, at + step.len(), sought);
    }
}

/// Returns the sought fields that continue with `step` after their common prefix of `at` bytes.
fn below<'s, 'e, 'd>(sought: &'s mut [Sought<'e, 'd>], at: usize, step: &str) -> &'s mut [Sought<'e, 'd>] {
    let step = step.as_bytes();
    let start = sought.partition_point(|sought| &sought.field.as_bytes()[at..] < step);
    let sought = &mut sought[start..];
    let end = sought.partition_point(|sought| sought.field.as_bytes()[at..].starts_with(step));
    &mut sought[..end]
}

/// Returns the JSON text `shown` with `null` replaced by the empty values of `sent`; `None` if `shown` is not JSON.
fn emptied(shown: &str, sent: &Value) -> Option<String> {
    let filled = Refill::of(shown.as_bytes(), sent, Names::Go)?;
    String::from_utf8(filled).ok()
}

/// The names of members in a text that is refilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// Those of the document.
    Json,
    /// Those of the document or of Go fields, which differ from them only in case.
    Go,
}

/// A copy of compact JSON in one pass.
struct Refill<'s> {
    reader: Reader<'s>,
    names: Names,
    out: Vec<u8>,
}

impl Refill<'_> {
    /// Returns `json` with `null` replaced by the empty values of `sent`; `None` if it is not JSON.
    fn of(json: &[u8], sent: &Value, names: Names) -> Option<Vec<u8>> {
        let mut refill = Refill {
            reader: Reader::new(json),
            names,
            out: Vec::with_capacity(json.len()),
        };
        refill.value(Some(sent)).ok()?;
        refill.reader.end().ok()?;
        Some(refill.out)
    }

    fn value(&mut self, sent: Option<&Value>) -> Result<(), Malformed> {
        match (self.reader.peek()?, sent) {
            (Next::Object, Some(Value::Object(sent))) => self.members(sent)?,
            (Next::Array, Some(Value::Array(sent))) => self.elements(sent)?,
            (Next::Null, sent) => {
                self.reader.null()?;
                let filled = match sent {
                    Some(Value::Array(list)) if list.is_empty() => "[]",
                    Some(Value::Object(map)) if map.is_empty() => "{}",
                    Some(Value::String(text)) if text.is_empty() => "\"\"",
                    _ => "null",
                };
                self.out.extend_from_slice(filled.as_bytes());
            }
            // The value contains nothing that the client can have sent empty.
            _ => self.out.extend_from_slice(self.reader.skip()?),
        }
        Ok(())
    }

    fn members(&mut self, sent: &Map<String, Value>) -> Result<(), Malformed> {
        self.out.push(b'{');
        let mut more = self.reader.enter(b'}')?;
        while more {
            let name = self.reader.key()?;
            encode_text(&name, &mut self.out);
            self.out.push(b':');
            let alike = || sent.iter().find(|(own, _)| own.eq_ignore_ascii_case(&name));
            let known = match (sent.get(&*name), self.names) {
                (None, Names::Go) => alike().map(|(_, value)| value),
                (known, _) => known,
            };
            self.value(known)?;
            more = self.another(b'}')?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn elements(&mut self, sent: &[Value]) -> Result<(), Malformed> {
        self.out.push(b'[');
        let mut more = self.reader.enter(b']')?;
        let mut sent = sent.iter();
        while more {
            self.value(sent.next())?;
            more = self.another(b']')?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn another(&mut self, close: u8) -> Result<bool, Malformed> {
        let more = self.reader.another(close)?;
        if more {
            self.out.push(b',');
        }
        Ok(more)
    }
}

/// True if JSON text seems to contain an empty list, map or text.
fn may_hold_empty(json: &[u8]) -> bool {
    holds_empty(json) || json.windows(2).any(|two| two == b"\"\"")
}

/// True if JSON text seems to contain an empty list or map; most bodies do not and need no second parse.
#[must_use]
pub fn holds_empty(json: &[u8]) -> bool {
    let mut significant = json.iter().filter(|byte| !byte.is_ascii_whitespace());
    let mut last = 0;
    significant.any(|&byte| matches!((std::mem::replace(&mut last, byte), byte), (b'[', b']') | (b'{', b'}')))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::field_error::Json;
    use crate::meta::{ObjectMeta, OwnerReference};

    fn sent(body: &str) -> SentEmpty {
        SentEmpty::new(ObjectMeta::default().facts(), &Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn structs_that_were_sent_without_members_are_not_empty_maps() {
        check(
            r#"{"ownerReferences":[{}],"labels":{},"other":{}}"#,
            &[("ownerReferences[0]", "null"), ("labels", "{}"), ("other", "{}")],
        );
    }

    #[test]
    fn empty_lists_and_maps_are_found_by_their_types() {
        let object = ObjectMeta {
            owner_references: vec![OwnerReference::default()],
            finalizers: vec!["default".to_owned()],
            ..ObjectMeta::default()
        };
        for (body, expected) in [
            (r#"{"labels":{}}"#, true),
            (r#"{"annotations":{"a":"b"},"labels":{}}"#, true),
            (r#"{"managedFields":[]}"#, true),
            // Left out, and not empty any more.
            (r#"{"annotations":{},"finalizers":[],"labels":{"a":"b"}}"#, false),
            // Structs, and fields of no type.
            (r#"{"ownerReferences":[{}],"other":[]}"#, false),
            (r#"{"name":"[]"}"#, false),
        ] {
            assert_eq!(sent(body).has_any_except(&["annotations"], &object), expected, "{body}");
            let tree = Arc::new(serde_json::from_str(body).expect("JSON"));
            let applied = SentEmpty::of_tree(object.facts(), &tree);
            assert_eq!(applied.has_any_except(&["annotations"], &object), expected, "{body}");
            assert!(!applied.contains("name"));
        }
    }

    #[test]
    fn fields_are_found_in_bodies() {
        let body = sent(r#"{"spec":{"list":[],"map":{},"text":"","full":[1]}}"#);
        for (field, expected) in [
            ("spec.list", true),
            ("spec.map", true),
            ("spec.text", false),
            ("spec.full", false),
            ("spec.other", false),
        ] {
            assert_eq!(body.contains(field), expected, "{field}");
        }
        assert!(!SentEmpty::nothing().contains("spec"));
    }

    fn uncounted(_: &Value) -> Result<(), Infallible> {
        Ok(())
    }

    #[test]
    fn a_document_is_parsed_within_the_budget_and_only_if_an_error_needs_it() {
        let body = sent(r#"{"labels":{}}"#);
        let refused = |field, value| {
            let mut errors = FieldErrors::default();
            errors.invalid(field, Json(value), "");
            body.rendered(&errors, |_| Err::<(), _>("full")).is_err()
        };
        assert!(refused("labels", "null"));
        assert!(!refused("labels", "7"));
        assert_eq!(
            body.restored_in(b"{\"labels\":null}", |_| Err::<(), _>("full")),
            Err("full")
        );
        assert_eq!(body.restored_in(b"{}", |_| Err::<(), _>("full")), Ok(None));
        let restored = body.restored_in(b"{\"labels\":null,\"Labels\":null}", uncounted);
        assert_eq!(restored, Ok(Some(b"{\"labels\":{},\"Labels\":null}".to_vec())));
    }

    fn check(body: &str, expected: &[(&str, &str)]) {
        let sent = sent(body);
        let mut errors = FieldErrors::default();
        for (field, _) in expected {
            errors.invalid(field, Json("null"), "");
        }
        let Ok(shown) = sent.rendered(&errors, uncounted);
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
    fn empty_fields_appear_in_reported_values() {
        let rendered = |value: &str| {
            let body = r#"{"spec":{"list":[],"inner":[{"map":{},"n":1}],"data":"","text":"a\"null","a<b":[]}}"#;
            let mut errors = FieldErrors::default();
            errors.invalid("spec", Json(value), "");
            let Ok(shown) = sent(body).rendered(&errors, uncounted);
            shown.as_slice()[0].value.clone()
        };
        assert_eq!(
            rendered(r#"{"List":null,"Inner":[{"Map":null,"N":1},null],"Data":null,"Text":"a\"null","Other":null}"#),
            r#"{"List":[],"Inner":[{"Map":{},"N":1},null],"Data":"","Text":"a\"null","Other":null}"#
        );
        assert_eq!(
            rendered(r#"{"a\u003cb":null,"N":[null]}"#),
            r#"{"a\u003cb":[],"N":[null]}"#
        );
        for odd in ["{null", "[null,", "{\"a\"null}", "[\"null]"] {
            assert_eq!(rendered(odd), odd);
        }
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
