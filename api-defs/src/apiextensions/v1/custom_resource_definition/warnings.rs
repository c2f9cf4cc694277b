//! Warnings about declarations that are valid but probably a mistake.

use std::collections::BTreeSet;

use planesmith_machinery::go_format::quote;

use super::CustomResourceDefinitionSpec;
use crate::apiextensions::v1::JSONSchemaProps;

/// Formats of strings that are validated, without their hyphens; two of them also with hyphens.
const FORMATS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// Returns warnings about a declaration, except those that `old` would give.
pub(super) fn warnings(spec: &CustomResourceDefinitionSpec, old: Option<&CustomResourceDefinitionSpec>) -> Vec<String> {
    let known: BTreeSet<String> = old.map(unknown_formats).unwrap_or_default().into_iter().collect();
    let formats = unknown_formats(spec)
        .into_iter()
        .filter(|format| !known.contains(format));
    formats
        .map(|format| format!("unrecognized format {}", quote(&format)))
        .collect()
}

/// Returns formats that are not validated, once for each occurrence.
fn unknown_formats(spec: &CustomResourceDefinitionSpec) -> Vec<String> {
    let mut found = Vec::new();
    spec.any_schema(|schema| {
        if !schema.format.is_empty() && !is_known_format(schema) {
            found.push(schema.format.clone());
        }
        false
    });
    found
}

fn is_known_format(schema: &JSONSchemaProps) -> bool {
    let format = schema.format.as_str();
    match schema.type_.as_str() {
        "" | "string" => FORMATS.contains(&format.replace('-', "").as_str()),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
