//! The messages of `openapi.v2`.

use serde_json::Value;

use super::{Kind, Message, entries, field, message, nested, pair};

pub(super) static DOCUMENT: Message = Message {
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

pub(super) static PATH_ITEM: Message = Message {
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

pub(super) static RESPONSE: Message = Message {
    fields: &[("description", 1, Kind::Text), ("schema", 2, Kind::SchemaItem)],
    extensions: 5,
};

pub(super) static REFERENCE: Message = Message {
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

pub(super) static API_KEY: Message = Message {
    fields: &[
        ("type", 1, Kind::Text),
        ("name", 2, Kind::Text),
        ("in", 3, Kind::Text),
        ("description", 4, Kind::Text),
    ],
    extensions: 5,
};

pub(super) static SCHEMA: Message = Message {
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

/// Security schemes with their requirements.
pub(super) fn requirement(value: &Value, out: &mut Vec<u8>) {
    entries(value).for_each(|(name, value)| pair(1, name, out, |out| field(value, 1, Kind::Texts, out)));
}

/// A parameter, or a reference to a shared one.
pub(super) fn parameter_or_reference(value: &Value, out: &mut Vec<u8>) {
    match value.get("$ref") {
        Some(_) => nested(2, out, |out| message(value, &REFERENCE, out)),
        None => nested(1, out, |out| parameter(value, out)),
    }
}

/// A parameter, by its location in the request.
pub(super) fn parameter(value: &Value, out: &mut Vec<u8>) {
    match value.get("in").and_then(Value::as_str) {
        Some("body") => nested(1, out, |out| message(value, &BODY_PARAMETER, out)),
        Some("path") => nested(2, out, |out| nested(4, out, |out| message(value, &PATH_PARAMETER, out))),
        _ => nested(2, out, |out| {
            nested(3, out, |out| message(value, &QUERY_PARAMETER, out))
        }),
    }
}
