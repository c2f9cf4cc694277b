//! Writes a tree as the object that it is the document of is written: with its members in the order of the fields.

use planesmith_wire::json::write_str;
use serde_json::{Map, Value};

use super::writer::close_object;
use super::{encode_array, encode_object, encode_value};
use crate::facts::{StructFacts, TypeFacts};

/// Appends `tree`, the document of an object whose type has `facts`: kind and apiVersion, the fields in their order, and sorted
/// members that are no fields.
pub fn encode_ordered(tree: &Value, facts: &StructFacts, out: &mut Vec<u8>) {
    match tree {
        Value::Object(members) => write_members(members, facts, out),
        other => encode_value(other, out),
    }
}

fn write_members(members: &Map<String, Value>, facts: &StructFacts, out: &mut Vec<u8>) {
    let mut fields = Vec::with_capacity(facts.fields.len());
    list_fields(facts, &mut fields);
    let is_field = |name: &str| fields.iter().any(|(field, _)| *field == name);
    let meta = ["kind", "apiVersion"];
    out.push(b'{');
    for name in meta.into_iter().filter(|name| !is_field(name)) {
        write_member(members, name, None, out);
    }
    for (name, ty) in &fields {
        write_member(members, name, Some(ty), out);
    }
    for name in members
        .keys()
        .filter(|name| !is_field(name) && !meta.contains(&name.as_str()))
    {
        write_member(members, name, None, out);
    }
    close_object(out);
}

/// Collects the names and types of fields, those of inlined structs in their place.
fn list_fields(facts: &StructFacts, fields: &mut Vec<(&'static str, &'static TypeFacts)>) {
    for field in facts.fields {
        match field.ty.present() {
            TypeFacts::Struct(inner) if field.inline => list_fields(inner(), fields),
            _ if field.inline => {}
            ty => fields.push((field.name, ty)),
        }
    }
}

/// Appends the member `name`, if there is one, followed by a comma.
fn write_member(members: &Map<String, Value>, name: &str, ty: Option<&TypeFacts>, out: &mut Vec<u8>) {
    let Some(value) = members.get(name) else { return };
    write_str(out, name);
    out.push(b':');
    match ty {
        Some(ty) => write_typed(value, ty, out),
        None => encode_value(value, out),
    }
    out.push(b',');
}

fn write_typed(value: &Value, ty: &TypeFacts, out: &mut Vec<u8>) {
    match (ty.present(), value) {
        (TypeFacts::Struct(facts), value) => encode_ordered(value, facts(), out),
        (TypeFacts::List(element), Value::Array(elements)) => {
            encode_array(elements, out, |value, out| write_typed(value, element, out));
        }
        (TypeFacts::Map(entry), Value::Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (key.as_str(), value));
            encode_object(entries, out, |value, out| write_typed(value, entry, out));
        }
        (_, value) => encode_value(value, out),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::{to_value, to_vec};
    use crate::meta::{LabelSelector, ObjectMeta};
    use crate::value::Struct;

    fn ordered(tree: &Value, facts: &StructFacts) -> String {
        let mut out = Vec::new();
        encode_ordered(tree, facts, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_document_of_an_object_is_written_as_the_object() {
        let meta = json!({"name": "a", "namespace": "b", "uid": "u", "labels": {"z": "1", "a": "2"}, "annotations": {"x": "y"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "v", "controller": true}]});
        let meta: ObjectMeta = serde_json::from_value(meta).unwrap();
        let written = ordered(&to_value(&meta), meta.facts());
        assert_eq!(written.as_bytes(), to_vec(&meta));
        assert!(
            written.starts_with(r#"{"name":"a","namespace":"b","uid":"u","#),
            "{written}"
        );
    }

    #[test]
    fn members_that_are_no_fields_follow_but_for_the_kind() {
        let tree = json!({"apiVersion": "v1", "b": {"d": 1, "c": 2}, "a": 1, "kind": "Selector", "matchLabels": null,
            "matchExpressions": "none"});
        assert_eq!(
            ordered(&tree, LabelSelector::default().facts()),
            r#"{"kind":"Selector","apiVersion":"v1","matchLabels":null,"matchExpressions":"none","a":1,"b":{"c":2,"d":1}}"#
        );
        assert_eq!(ordered(&Value::Null, LabelSelector::default().facts()), "null");
    }
}
