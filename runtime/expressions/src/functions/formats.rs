//! Named string formats.

use planesmith_dynamic::structural::{self, Form};
use planesmith_machinery::names;

use super::urls::Url;
use super::{Context, Entry, text, unfit};
use crate::value::{Evaluated, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    (
        "validate: format.(string) optional(list(string))",
        "format-validate",
        validate,
    ),
    ("format.named: (string) optional(format)", "format-named", named),
    ("format.dns1123Label: () format", "format.dns1123Label", |_, _| {
        constant("dns1123Label")
    }),
    (
        "format.dns1123Subdomain: () format",
        "format.dns1123Subdomain",
        |_, _| constant("dns1123Subdomain"),
    ),
    ("format.dns1035Label: () format", "format.dns1035Label", |_, _| {
        constant("dns1035Label")
    }),
    ("format.qualifiedName: () format", "format.qualifiedName", |_, _| {
        constant("qualifiedName")
    }),
    (
        "format.dns1123LabelPrefix: () format",
        "format.dns1123LabelPrefix",
        |_, _| constant("dns1123LabelPrefix"),
    ),
    (
        "format.dns1123SubdomainPrefix: () format",
        "format.dns1123SubdomainPrefix",
        |_, _| constant("dns1123SubdomainPrefix"),
    ),
    (
        "format.dns1035LabelPrefix: () format",
        "format.dns1035LabelPrefix",
        |_, _| constant("dns1035LabelPrefix"),
    ),
    ("format.labelValue: () format", "format.labelValue", |_, _| {
        constant("labelValue")
    }),
    ("format.uri: () format", "format.uri", |_, _| constant("uri")),
    ("format.uuid: () format", "format.uuid", |_, _| constant("uuid")),
    ("format.byte: () format", "format.byte", |_, _| constant("byte")),
    ("format.date: () format", "format.date", |_, _| constant("date")),
    ("format.datetime: () format", "format.datetime", |_, _| {
        constant("datetime")
    }),
];

/// A named string format.
#[derive(Debug)]
pub struct Format {
    /// The name in expressions.
    key: &'static str,
    /// The name that the format reports.
    pub(crate) name: &'static str,
    /// Returns the problems of a string; empty if it is valid.
    check: fn(&str) -> Vec<String>,
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
    format("uri", "URI", |text| Url::parse(text).err().into_iter().collect(), 1600),
    format(
        "uuid",
        "uuid",
        |text| unless(is_of("uuid", text), "does not match the UUID format"),
        64,
    ),
    format("byte", "byte", |text| unless(is_of("byte", text), "invalid base64"), 84),
    format("date", "date", |text| unless(is_of("date", text), "invalid date"), 100),
    format(
        "datetime",
        "datetime",
        |text| unless(is_of("datetime", text), "invalid datetime"),
        100,
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
    structural::Format::of(Form::String, format).is_some_and(|format| format.holds(text))
}

fn find(key: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.key == key)
}

fn constant<'d>(key: &str) -> Evaluated<'d> {
    find(key)
        .map(|format| Value::Library(Library::Format(format)))
        .ok_or_else(unfit)
}

fn named<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let format = find(text(&args, 0)?).map(|format| Box::new(Value::Library(Library::Format(format))));
    Ok(Value::Optional(format))
}

fn validate<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let Some(Value::Library(Library::Format(format))) = args.first() else {
        return Err(unfit());
    };
    let complaints = (format.check)(text(&args, 1)?);
    Ok(match complaints.is_empty() {
        true => Value::Optional(None),
        false => Value::texts(&mut context.effort, complaints.iter().map(AsRef::as_ref))?.some(),
    })
}
