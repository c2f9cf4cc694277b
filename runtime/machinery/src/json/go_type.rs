//! Names of Go types, as decoding errors show them.

use crate::facts::{StructFacts, TypeFacts};

/// E.g. `map[string]string`, `[]v1.Container`, `int32`.
pub(crate) fn go_type(ty: &TypeFacts) -> String {
    match ty {
        TypeFacts::Bool => "bool".to_owned(),
        TypeFacts::Int32 => "int32".to_owned(),
        TypeFacts::Int64 => "int64".to_owned(),
        TypeFacts::Double => "float64".to_owned(),
        TypeFacts::String => "string".to_owned(),
        TypeFacts::Bytes => "[]uint8".to_owned(),
        TypeFacts::Scalar(facts) => facts.go_name.to_owned(),
        TypeFacts::Struct(facts) => go_struct(facts()),
        TypeFacts::List(element) => format!("[]{}", go_type(element)),
        TypeFacts::Map(element) => format!("map[string]{}", go_type(element)),
        TypeFacts::Optional(inner) => format!("*{}", go_type(inner)),
    }
}

/// The struct's name behind that of its package, which Go names after the API version.
pub(crate) fn go_struct(facts: &StructFacts) -> String {
    format!("{}.{}", package(facts), facts.name)
}

fn package(facts: &StructFacts) -> &'static str {
    facts
        .type_meta
        .map_or("v1", |meta| meta.api_version.rsplit('/').next().unwrap_or("v1"))
}
