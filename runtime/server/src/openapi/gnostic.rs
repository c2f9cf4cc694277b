//! The protobuf encodings of documents: of version 2, which kubectl before 1.27 reads, and of version 3.
//!
//! The messages are those of gnostic: [`v2`] and [`v3`]. They follow the JSON document member by member, so a table for
//! each message and one walk are enough. Members that Kubernetes' documents never have are left out of the tables.

mod v2;
mod v3;

use planesmith_machinery::yaml;
use serde_json::Value;

/// One message: maps members of the JSON object to fields.
struct Message {
    fields: &'static [(&'static str, u32, Kind)],
    /// Field for the members that start with `x-`; 0 for none.
    extensions: u32,
}

/// The encoding of a member.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Whole,
    Number,
    Texts,
    /// A value of any kind, as YAML text.
    Any,
    Anys,
    One(&'static Message),
    Many(&'static Message),
    /// A map from names to messages: a message of repeated pairs.
    Named(&'static Message),
    /// The map of paths, whose pairs follow a field for extensions.
    Paths,
    /// A map from names to lists of text, in a list.
    Requirements,
    /// A schema inside a message with one field.
    SchemaItem,
    /// Types inside a message with one field; one text or several.
    Types,
    /// A schema or a boolean.
    SchemaOrFlag,
    /// Parameters or references to them.
    Parameters,
    /// A map from names to parameters.
    NamedParameters,
    /// A map from status codes to responses or references.
    Responses,
    /// A map from names to API-key securities.
    Securities,
    /// A message, or a reference to one.
    OrReference(&'static Message),
    /// A list of messages or references.
    ManyOrReference(&'static Message),
    /// A map from names to messages or references.
    NamedOrReference(&'static Message),
    /// A map from status codes to messages or references, after a field for the default.
    CodedOrReference(&'static Message),
    /// A message or reference in a list inside a message with one field.
    ItemOrReference(&'static Message),
    /// A message, a reference or a boolean.
    FlagOrReference(&'static Message),
    /// A number, a boolean or a text; other values are left out.
    Default,
}

/// A version 2 document in protobuf.
pub(super) fn encode_v2(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    message(document, &v2::DOCUMENT, &mut out);
    out
}

/// A version 3 document in protobuf.
pub(super) fn encode_v3(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    message(document, &v3::DOCUMENT, &mut out);
    out
}

fn message(value: &Value, table: &Message, out: &mut Vec<u8>) {
    for (name, number, kind) in table.fields {
        if let Some(member) = value.get(name) {
            field(member, *number, *kind, out);
        }
    }
    if table.extensions == 0 {
        return;
    }
    for (name, value) in entries(value).filter(|(name, _)| name.starts_with("x-")) {
        pair(table.extensions, name, out, |out| any(value, out));
    }
}

fn field(value: &Value, number: u32, kind: Kind, out: &mut Vec<u8>) {
    match kind {
        Kind::Text => write_text(number, value.as_str().unwrap_or_default(), out),
        Kind::Flag => whole(number, u64::from(value == &Value::Bool(true)), out),
        Kind::Whole => whole(number, value.as_u64().unwrap_or_default(), out),
        Kind::Number => {
            varint(u64::from(number) << 3 | 1, out);
            out.extend(value.as_f64().unwrap_or_default().to_le_bytes());
        }
        Kind::Texts => elements(value).for_each(|value| write_text(number, value.as_str().unwrap_or_default(), out)),
        Kind::Any => nested(number, out, |out| any(value, out)),
        Kind::Anys => elements(value).for_each(|value| nested(number, out, |out| any(value, out))),
        Kind::One(table) => nested(number, out, |out| message(value, table, out)),
        Kind::Many(table) => {
            elements(value).for_each(|value| nested(number, out, |out| message(value, table, out)));
        }
        Kind::Named(table) => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| pair(1, name, out, |out| message(value, table, out)));
        }),
        Kind::Paths => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| pair(2, name, out, |out| message(value, &v2::PATH_ITEM, out)));
        }),
        Kind::Requirements => elements(value).for_each(|value| nested(number, out, |out| v2::requirement(value, out))),
        Kind::SchemaItem => nested(number, out, |out| {
            nested(1, out, |out| message(value, &v2::SCHEMA, out))
        }),
        Kind::Types => nested(number, out, |out| match value {
            Value::String(one) => write_text(1, one, out),
            several => field(several, 1, Kind::Texts, out),
        }),
        Kind::SchemaOrFlag => nested(number, out, |out| match value {
            Value::Bool(flag) => whole(2, u64::from(*flag), out),
            schema => nested(1, out, |out| message(schema, &v2::SCHEMA, out)),
        }),
        Kind::Parameters => {
            elements(value).for_each(|value| nested(number, out, |out| v2::parameter_or_reference(value, out)));
        }
        Kind::NamedParameters => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| pair(1, name, out, |out| v2::parameter(value, out)));
        }),
        Kind::Responses => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| {
                pair(1, name, out, |out| match value.get("$ref") {
                    Some(_) => nested(2, out, |out| message(value, &v2::REFERENCE, out)),
                    None => nested(1, out, |out| message(value, &v2::RESPONSE, out)),
                });
            });
        }),
        Kind::Securities => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| {
                pair(1, name, out, |out| {
                    nested(2, out, |out| message(value, &v2::API_KEY, out))
                });
            });
        }),
        Kind::OrReference(table) => nested(number, out, |out| or_reference(value, table, out)),
        Kind::ManyOrReference(table) => {
            elements(value).for_each(|value| nested(number, out, |out| or_reference(value, table, out)));
        }
        Kind::NamedOrReference(table) => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| pair(1, name, out, |out| or_reference(value, table, out)));
        }),
        Kind::CodedOrReference(table) => nested(number, out, |out| {
            entries(value).for_each(|(code, value)| pair(2, code, out, |out| or_reference(value, table, out)));
        }),
        Kind::ItemOrReference(table) => {
            nested(number, out, |out| nested(1, out, |out| or_reference(value, table, out)));
        }
        Kind::FlagOrReference(table) => nested(number, out, |out| match value {
            Value::Bool(flag) => whole(2, u64::from(*flag), out),
            other => nested(1, out, |out| or_reference(other, table, out)),
        }),
        Kind::Default => nested(number, out, |out| match value {
            Value::Number(_) => field(value, 1, Kind::Number, out),
            Value::Bool(_) => field(value, 2, Kind::Flag, out),
            Value::String(_) => field(value, 3, Kind::Text, out),
            _ => {}
        }),
    }
}

fn or_reference(value: &Value, table: &Message, out: &mut Vec<u8>) {
    match value.get("$ref") {
        Some(_) => nested(2, out, |out| message(value, &v3::REFERENCE, out)),
        None => nested(1, out, |out| message(value, table, out)),
    }
}

fn any(value: &Value, out: &mut Vec<u8>) {
    let mut text = String::new();
    yaml::write_node(value, &mut text);
    write_text(2, &text, out);
}

/// A name with a message, in a field that may repeat.
fn pair(number: u32, name: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    nested(number, out, |out| {
        write_text(1, name, out);
        nested(2, out, write);
    });
}

fn nested(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(number, &inner, out);
}

fn write_text(number: u32, value: &str, out: &mut Vec<u8>) {
    bytes(number, value.as_bytes(), out);
}

fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 2, out);
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

fn whole(number: u32, value: u64, out: &mut Vec<u8>) {
    varint(u64::from(number) << 3, out);
    varint(value, out);
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn members_become_fields_of_nested_messages() {
        let document = json!({"swagger": "2.0", "paths": {"/a": {"get": {"operationId": "x"}}}});
        let expected = b"\x0a\x032.0\x42\x0d\x12\x0b\x0a\x02/a\x12\x05\x12\x03\x2a\x01x";
        assert_eq!(encode_v2(&document), expected);
    }

    #[test]
    fn version_3_refers_to_schemas_beside_them() {
        let document = json!({
            "openapi": "3.0.0",
            "components": {"schemas": {"a": {
                "type": "object",
                "properties": {"b": {"$ref": "#/c"}},
                "default": {},
                "additionalProperties": true,
            }}},
        });
        let schema = b"\xca\x01\x06object\xfa\x01\x0e\x0a\x0c\x0a\x01b\x12\x07\x12\x05\x0a\x03#/c\x82\x02\x02\x10\x01\x8a\x02\x00";
        let mut expected = b"\x0a\x053.0.0\x2a\x2d\x0a\x2b\x0a\x29\x0a\x01a\x12\x24\x0a\x22".to_vec();
        expected.extend_from_slice(schema);
        assert_eq!(encode_v3(&document), expected);
    }

    #[test]
    fn extensions_are_yaml_by_name() {
        let mut out = Vec::new();
        message(&json!({"type": "object", "x-k": {"a": 1}}), &v2::SCHEMA, &mut out);
        let expected = b"\xb2\x01\x08\x0a\x06object\xfa\x01\x0e\x0a\x03x-k\x12\x07\x12\x05a: 1\n";
        assert_eq!(out, expected);
    }
}
