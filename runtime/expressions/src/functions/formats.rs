//! Functions of named string formats.

use super::{Context, Entry, text_argument, unfit};
use crate::library::format::find;
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

fn constant<'d>(key: &str) -> Evaluated<'d> {
    find(key)
        .map(|format| Value::Library(Library::Format(format)))
        .ok_or_else(unfit)
}

fn named<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let format = find(text_argument(&args, 0)?).map(|format| Box::new(Value::Library(Library::Format(format))));
    Ok(Value::Optional(format))
}

fn validate<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let Some(Value::Library(Library::Format(format))) = args.first() else {
        return Err(unfit());
    };
    let complaints = (format.check)(text_argument(&args, 1)?);
    Ok(match complaints.is_empty() {
        true => Value::Optional(None),
        false => Value::texts(&mut context.effort, complaints.iter().map(AsRef::as_ref))?.some(),
    })
}
