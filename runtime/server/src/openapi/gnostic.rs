//! The protobuf form of a version 2 document, which kubectl reads before 1.27.
//!
//! The messages are those of gnostic's `openapi.v2`. They follow the JSON document member by member, so a table for each
//! message and one walk are enough. Members that Kubernetes' documents never have are left out of the tables.

use serde_json::Value;

/// One message: which member of the JSON object goes into which field.
struct Message {
    fields: &'static [(&'static str, u32, Kind)],
    /// Field for the members that start with `x-`; 0 for none.
    extensions: u32,
}

/// How a member is written.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Whole,
    Number,
    Texts,
    /// A value of any kind, as YAML text, of which JSON is a part.
    Any,
    Anys,
    One(&'static Message),
    Many(&'static Message),
    /// A map from names to messages: a message of repeated pairs.
    Named(&'static Message),
    /// The map of paths, whose pairs stand behind a field for extensions.
    Paths,
    /// A map from names to lists of text, in a list.
    Requirements,
    /// A schema inside a message with one field.
    SchemaItem,
    /// Types inside a message with one field; one text or several.
    Types,
    /// A schema or a truth value.
    SchemaOrFlag,
    /// Parameters or references to them.
    Parameters,
    /// A map from names to parameters.
    NamedParameters,
    /// A map from status codes to responses or references.
    Responses,
    /// A map from names to API-key securities.
    Securities,
}

static DOCUMENT: Message = Message {
    fields: &[
        ("swagger", 1, Kind::Text),
        ("info", 2, Kind::One(&INFO)),
        ("schemes", 5, Kind::Texts),
        ("consumes", 6, Kind::Texts),
        ("produces", 7, Kind::Texts),
        ("paths", 8, Kind::Paths),
        ("definitions", 9, Kind::Named(&SCHEMA)),
        ("parameters", 10, Kind::NamedParameters),
        ("security", 12, Kind::Requirements),
        ("securityDefinitions", 13, Kind::Securities),
    ],
    extensions: 16,
};

static INFO: Message = Message {
    fields: &[
        ("title", 1, Kind::Text),
        ("version", 2, Kind::Text),
        ("description", 3, Kind::Text),
    ],
    extensions: 7,
};

static PATH_ITEM: Message = Message {
    fields: &[
        ("$ref", 1, Kind::Text),
        ("get", 2, Kind::One(&OPERATION)),
        ("put", 3, Kind::One(&OPERATION)),
        ("post", 4, Kind::One(&OPERATION)),
        ("delete", 5, Kind::One(&OPERATION)),
        ("options", 6, Kind::One(&OPERATION)),
        ("head", 7, Kind::One(&OPERATION)),
        ("patch", 8, Kind::One(&OPERATION)),
        ("parameters", 9, Kind::Parameters),
    ],
    extensions: 10,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Kind::Texts),
        ("summary", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("operationId", 5, Kind::Text),
        ("produces", 6, Kind::Texts),
        ("consumes", 7, Kind::Texts),
        ("parameters", 8, Kind::Parameters),
        ("responses", 9, Kind::Responses),
        ("schemes", 10, Kind::Texts),
        ("deprecated", 11, Kind::Flag),
    ],
    extensions: 13,
};

static RESPONSE: Message = Message {
    fields: &[("description", 1, Kind::Text), ("schema", 2, Kind::SchemaItem)],
    extensions: 5,
};

static REFERENCE: Message = Message {
    fields: &[("$ref", 1, Kind::Text), ("description", 2, Kind::Text)],
    extensions: 0,
};

static BODY_PARAMETER: Message = Message {
    fields: &[
        ("description", 1, Kind::Text),
        ("name", 2, Kind::Text),
        ("in", 3, Kind::Text),
        ("required", 4, Kind::Flag),
        ("schema", 5, Kind::One(&SCHEMA)),
    ],
    extensions: 6,
};

static QUERY_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Kind::Flag),
        ("in", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("name", 4, Kind::Text),
        ("type", 6, Kind::Text),
        ("format", 7, Kind::Text),
        ("uniqueItems", 20, Kind::Flag),
    ],
    extensions: 23,
};

static PATH_PARAMETER: Message = Message {
    fields: &[
        ("required", 1, Kind::Flag),
        ("in", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("name", 4, Kind::Text),
        ("type", 5, Kind::Text),
        ("format", 6, Kind::Text),
        ("uniqueItems", 19, Kind::Flag),
    ],
    extensions: 22,
};

static API_KEY: Message = Message {
    fields: &[
        ("type", 1, Kind::Text),
        ("name", 2, Kind::Text),
        ("in", 3, Kind::Text),
        ("description", 4, Kind::Text),
    ],
    extensions: 5,
};

static SCHEMA: Message = Message {
    fields: &[
        ("$ref", 1, Kind::Text),
        ("format", 2, Kind::Text),
        ("title", 3, Kind::Text),
        ("description", 4, Kind::Text),
        ("default", 5, Kind::Any),
        ("multipleOf", 6, Kind::Number),
        ("maximum", 7, Kind::Number),
        ("exclusiveMaximum", 8, Kind::Flag),
        ("minimum", 9, Kind::Number),
        ("exclusiveMinimum", 10, Kind::Flag),
        ("maxLength", 11, Kind::Whole),
        ("minLength", 12, Kind::Whole),
        ("pattern", 13, Kind::Text),
        ("maxItems", 14, Kind::Whole),
        ("minItems", 15, Kind::Whole),
        ("uniqueItems", 16, Kind::Flag),
        ("maxProperties", 17, Kind::Whole),
        ("minProperties", 18, Kind::Whole),
        ("required", 19, Kind::Texts),
        ("enum", 20, Kind::Anys),
        ("additionalProperties", 21, Kind::SchemaOrFlag),
        ("type", 22, Kind::Types),
        ("items", 23, Kind::SchemaItem),
        ("allOf", 24, Kind::Many(&SCHEMA)),
        ("properties", 25, Kind::Named(&SCHEMA)),
        ("example", 30, Kind::Any),
    ],
    extensions: 31,
};

/// The document in protobuf.
pub(super) fn encode(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    message(document, &DOCUMENT, &mut out);
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
        Kind::Text => text(number, value.as_str().unwrap_or_default(), out),
        Kind::Flag => whole(number, u64::from(value == &Value::Bool(true)), out),
        Kind::Whole => whole(number, value.as_u64().unwrap_or_default(), out),
        Kind::Number => {
            varint(u64::from(number) << 3 | 1, out);
            out.extend(value.as_f64().unwrap_or_default().to_le_bytes());
        }
        Kind::Texts => elements(value).for_each(|value| text(number, value.as_str().unwrap_or_default(), out)),
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
            entries(value).for_each(|(name, value)| pair(2, name, out, |out| message(value, &PATH_ITEM, out)));
        }),
        Kind::Requirements => elements(value).for_each(|value| nested(number, out, |out| requirement(value, out))),
        Kind::SchemaItem => nested(number, out, |out| nested(1, out, |out| message(value, &SCHEMA, out))),
        Kind::Types => nested(number, out, |out| match value {
            Value::String(one) => text(1, one, out),
            several => field(several, 1, Kind::Texts, out),
        }),
        Kind::SchemaOrFlag => nested(number, out, |out| match value {
            Value::Bool(flag) => whole(2, u64::from(*flag), out),
            schema => nested(1, out, |out| message(schema, &SCHEMA, out)),
        }),
        Kind::Parameters => {
            elements(value).for_each(|value| nested(number, out, |out| parameter_or_reference(value, out)));
        }
        Kind::NamedParameters => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| pair(1, name, out, |out| parameter(value, out)));
        }),
        Kind::Responses => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| {
                pair(1, name, out, |out| match value.get("$ref") {
                    Some(_) => nested(2, out, |out| message(value, &REFERENCE, out)),
                    None => nested(1, out, |out| message(value, &RESPONSE, out)),
                });
            });
        }),
        Kind::Securities => nested(number, out, |out| {
            entries(value).for_each(|(name, value)| {
                pair(1, name, out, |out| nested(2, out, |out| message(value, &API_KEY, out)));
            });
        }),
    }
}

fn requirement(value: &Value, out: &mut Vec<u8>) {
    entries(value).for_each(|(name, value)| pair(1, name, out, |out| field(value, 1, Kind::Texts, out)));
}

fn parameter_or_reference(value: &Value, out: &mut Vec<u8>) {
    match value.get("$ref") {
        Some(_) => nested(2, out, |out| message(value, &REFERENCE, out)),
        None => nested(1, out, |out| parameter(value, out)),
    }
}

fn parameter(value: &Value, out: &mut Vec<u8>) {
    match value.get("in").and_then(Value::as_str) {
        Some("body") => nested(1, out, |out| message(value, &BODY_PARAMETER, out)),
        Some("path") => nested(2, out, |out| nested(4, out, |out| message(value, &PATH_PARAMETER, out))),
        _ => nested(2, out, |out| {
            nested(3, out, |out| message(value, &QUERY_PARAMETER, out))
        }),
    }
}

fn any(value: &Value, out: &mut Vec<u8>) {
    text(2, &format!("{value}\n"), out);
}

/// A name with a message, in a field that may repeat.
fn pair(number: u32, name: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    nested(number, out, |out| {
        text(1, name, out);
        nested(2, out, write);
    });
}

fn nested(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut inner = Vec::new();
    write(&mut inner);
    bytes(number, &inner, out);
}

fn text(number: u32, value: &str, out: &mut Vec<u8>) {
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
        assert_eq!(encode(&document), expected);
    }

    #[test]
    fn extensions_are_yaml_by_name() {
        let mut out = Vec::new();
        message(&json!({"type": "object", "x-k": {"a": 1}}), &SCHEMA, &mut out);
        let expected = b"\xb2\x01\x08\x0a\x06object\xfa\x01\x11\x0a\x03x-k\x12\x0a\x12\x08{\"a\":1}\n";
        assert_eq!(out, expected);
    }
}
