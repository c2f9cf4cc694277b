//! The messages of `openapi.v3`.

use super::{Kind, Message};

pub(super) static DOCUMENT: Message = Message {
    fields: &[
        ("openapi", 1, Kind::Text),
        ("info", 2, Kind::One(&INFO)),
        ("paths", 4, Kind::Named(&PATH_ITEM)),
        ("components", 5, Kind::One(&COMPONENTS)),
        ("security", 6, Kind::Requirements),
    ],
    extensions: 9,
};

static INFO: Message = Message {
    fields: &[
        ("title", 1, Kind::Text),
        ("description", 2, Kind::Text),
        ("version", 6, Kind::Text),
    ],
    extensions: 7,
};

static COMPONENTS: Message = Message {
    fields: &[
        ("schemas", 1, Kind::NamedOrReference(&SCHEMA)),
        ("responses", 2, Kind::NamedOrReference(&RESPONSE)),
        ("parameters", 3, Kind::NamedOrReference(&PARAMETER)),
        ("requestBodies", 5, Kind::NamedOrReference(&REQUEST_BODY)),
        ("securitySchemes", 7, Kind::NamedOrReference(&SECURITY_SCHEME)),
    ],
    extensions: 10,
};

static PATH_ITEM: Message = Message {
    fields: &[
        ("$ref", 1, Kind::Text),
        ("summary", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("get", 4, Kind::One(&OPERATION)),
        ("put", 5, Kind::One(&OPERATION)),
        ("post", 6, Kind::One(&OPERATION)),
        ("delete", 7, Kind::One(&OPERATION)),
        ("options", 8, Kind::One(&OPERATION)),
        ("head", 9, Kind::One(&OPERATION)),
        ("patch", 10, Kind::One(&OPERATION)),
        ("parameters", 13, Kind::ManyOrReference(&PARAMETER)),
    ],
    extensions: 14,
};

static OPERATION: Message = Message {
    fields: &[
        ("tags", 1, Kind::Texts),
        ("summary", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("operationId", 5, Kind::Text),
        ("parameters", 6, Kind::ManyOrReference(&PARAMETER)),
        ("requestBody", 7, Kind::OrReference(&REQUEST_BODY)),
        ("responses", 8, Kind::CodedOrReference(&RESPONSE)),
        ("deprecated", 10, Kind::Flag),
    ],
    extensions: 13,
};

static PARAMETER: Message = Message {
    fields: &[
        ("name", 1, Kind::Text),
        ("in", 2, Kind::Text),
        ("description", 3, Kind::Text),
        ("required", 4, Kind::Flag),
        ("schema", 10, Kind::OrReference(&SCHEMA)),
    ],
    extensions: 14,
};

static REQUEST_BODY: Message = Message {
    fields: &[
        ("description", 1, Kind::Text),
        ("content", 2, Kind::Named(&MEDIA_TYPE)),
        ("required", 3, Kind::Flag),
    ],
    extensions: 4,
};

static RESPONSE: Message = Message {
    fields: &[("description", 1, Kind::Text), ("content", 3, Kind::Named(&MEDIA_TYPE))],
    extensions: 5,
};

static MEDIA_TYPE: Message = Message {
    fields: &[("schema", 1, Kind::OrReference(&SCHEMA))],
    extensions: 5,
};

static SECURITY_SCHEME: Message = Message {
    fields: &[
        ("type", 1, Kind::Text),
        ("description", 2, Kind::Text),
        ("name", 3, Kind::Text),
        ("in", 4, Kind::Text),
        ("scheme", 5, Kind::Text),
    ],
    extensions: 9,
};

pub(super) static REFERENCE: Message = Message {
    fields: &[
        ("$ref", 1, Kind::Text),
        ("summary", 2, Kind::Text),
        ("description", 3, Kind::Text),
    ],
    extensions: 0,
};

static SCHEMA: Message = Message {
    fields: &[
        ("nullable", 1, Kind::Flag),
        ("example", 7, Kind::Any),
        ("title", 9, Kind::Text),
        ("multipleOf", 10, Kind::Number),
        ("maximum", 11, Kind::Number),
        ("exclusiveMaximum", 12, Kind::Flag),
        ("minimum", 13, Kind::Number),
        ("exclusiveMinimum", 14, Kind::Flag),
        ("maxLength", 15, Kind::Whole),
        ("minLength", 16, Kind::Whole),
        ("pattern", 17, Kind::Text),
        ("maxItems", 18, Kind::Whole),
        ("minItems", 19, Kind::Whole),
        ("uniqueItems", 20, Kind::Flag),
        ("maxProperties", 21, Kind::Whole),
        ("minProperties", 22, Kind::Whole),
        ("required", 23, Kind::Texts),
        ("enum", 24, Kind::Anys),
        ("type", 25, Kind::Text),
        ("allOf", 26, Kind::ManyOrReference(&SCHEMA)),
        ("oneOf", 27, Kind::ManyOrReference(&SCHEMA)),
        ("anyOf", 28, Kind::ManyOrReference(&SCHEMA)),
        ("not", 29, Kind::One(&SCHEMA)),
        ("items", 30, Kind::ItemOrReference(&SCHEMA)),
        ("properties", 31, Kind::NamedOrReference(&SCHEMA)),
        ("additionalProperties", 32, Kind::FlagOrReference(&SCHEMA)),
        ("default", 33, Kind::Default),
        ("description", 34, Kind::Text),
        ("format", 35, Kind::Text),
    ],
    extensions: 36,
};
