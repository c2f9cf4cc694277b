//! Named string formats.

use planesmith_dynamic::structural::{self, SchemaType};
use planesmith_machinery::names;

use super::url::Url;

/// A named string format.
#[derive(Debug)]
pub struct Format {
    /// The name in expressions.
    key: &'static str,
    /// The name that the format reports.
    pub(crate) name: &'static str,
    /// Returns the problems of a string; empty if it is valid.
    pub(crate) check: fn(&str) -> Vec<String>,
    /// The pattern length used to compute cost.
    pub(crate) pattern_size: u64,
}

static FORMATS: [Format; 13] = [
    format("dns1123Label", "DNS1123Label", |text| owned(names::dns_label(text)), 30),
    format(
        "dns1123Subdomain",
        "DNS1123Subdomain",
        |text| owned(names::dns_subdomain(text)),
        60,
    ),
    format(
        "dns1035Label",
        "DNS1035Label",
        |text| owned(names::dns_label_1035(text)),
        30,
    ),
    format(
        "qualifiedName",
        "QualifiedName",
        |text| owned(names::qualified_name(text)),
        60,
    ),
    format(
        "dns1123LabelPrefix",
        "DNS1123LabelPrefix",
        |text| owned(names::dns_label(&prefix(text))),
        30,
    ),
    format(
        "dns1123SubdomainPrefix",
        "DNS1123SubdomainPrefix",
        |text| owned(names::dns_subdomain(&prefix(text))),
        60,
    ),
    format(
        "dns1035LabelPrefix",
        "DNS1035LabelPrefix",
        |text| owned(names::dns_label_1035(&prefix(text))),
        30,
    ),
    format("labelValue", "LabelValue", |text| owned(names::label_value(text)), 40),
    format("uri", "URI", |text| Url::parse(text).err().into_iter().collect(), 1103),
    format(
        "uuid",
        "uuid",
        |text| unless(is_of("uuid", text), "does not match the UUID format"),
        70,
    ),
    format("byte", "byte", |text| unless(is_of("byte", text), "invalid base64"), 84),
    format("date", "date", |text| unless(is_of("date", text), "invalid date"), 71),
    format(
        "datetime",
        "datetime",
        |text| unless(is_of("datetime", text), "invalid datetime"),
        71,
    ),
];

const fn format(key: &'static str, name: &'static str, check: fn(&str) -> Vec<String>, pattern_size: u64) -> Format {
    Format {
        key,
        name,
        check,
        pattern_size,
    }
}

fn owned<T: Into<String>>(complaints: impl IntoIterator<Item = T>) -> Vec<String> {
    complaints.into_iter().map(Into::into).collect()
}

fn unless(fits: bool, complaint: &str) -> Vec<String> {
    if fits { Vec::new() } else { vec![complaint.to_owned()] }
}

/// Prepares a name prefix for validation: a trailing dash is valid there, because a suffix follows.
fn prefix(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(start) if text.len() > 1 => format!("{start}a"),
        _ => text.to_owned(),
    }
}

/// True if a string is valid in a format that schemas have, too.
fn is_of(format: &str, text: &str) -> bool {
    structural::Format::from_name(SchemaType::String, format).is_some_and(|format| format.holds(text))
}

/// Returns the format with the name `key` in expressions.
pub(crate) fn find(key: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.key == key)
}
