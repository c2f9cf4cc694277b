//! Checks of a struct as a whole; [`field`] checks each field.

mod bounds;
mod field;

use std::collections::HashMap;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields};

use super::attr::{self, StructAttrs};
use super::model::{FieldModel, StructModel, TypeMeta};
use crate::diagnostics::Diagnostics;
use crate::keys;
use crate::{docs, names};

pub use bounds::pattern_problem;

/// Returns the model of a struct, which is only valid if no problem was reported.
pub(crate) fn check(input: &DeriveInput, attrs: StructAttrs, diagnostics: &Diagnostics) -> StructModel {
    shape(input, diagnostics);
    let name = attrs
        .name
        .map_or_else(|| unraw(&input.ident), |name| go_name(name, diagnostics));
    let type_meta = attrs.type_meta.and_then(|meta| type_meta(&meta, diagnostics));
    let written = attr::named_fields(input).into_iter().flatten().zip(attrs.fields);
    let fields: Vec<_> = written
        .filter_map(|(field, attrs)| field::check(field, attrs, diagnostics))
        .collect();
    json_names(&fields, type_meta.is_some(), diagnostics);
    proto_numbers(&fields, diagnostics);
    StructModel {
        ident: input.ident.clone(),
        name,
        doc: docs::doc_text(&input.attrs),
        type_meta,
        atomic: attrs.atomic,
        internal: attrs.internal,
        union: attrs.union.is_some(),
        fields: fields.into_iter().map(|field| field.model).collect(),
    }
}

/// The model of a field, and the tokens to point at if it conflicts with another field.
struct CheckedField {
    model: FieldModel,
    name_span: Span,
    proto_span: Span,
}

/// Refuses anything but structs with named fields and without generic parameters.
fn shape(input: &DeriveInput, diagnostics: &Diagnostics) {
    let ident = &input.ident;
    let wrong = |what: &str, help: &str| diagnostics.report(ident.span(), format_args!("`{ident}` is {what}"), help);
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => {}
            Fields::Unnamed(_) => wrong("a tuple struct", "give each field a name: `struct Name { size: i32 }`"),
            Fields::Unit => wrong("a struct without a body", "write `{}` for a struct without fields"),
        },
        Data::Enum(_) => wrong(
            "an enum",
            "objects hold structs; for a choice of texts use a `String` field with `#[field(one_of(\"A\", \"B\"))]`",
        ),
        Data::Union(_) => wrong("a union", "write a struct with one optional field per choice"),
    }
    if !input.generics.params.is_empty() {
        let problem = format_args!("`{ident}` has parameters");
        diagnostics.report(
            input.generics.params.span(),
            problem,
            "write one struct for each type that is served",
        );
    }
}

fn go_name(name: keys::Spanned<String>, diagnostics: &Diagnostics) -> String {
    if name.value.is_empty() || !name.value.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        let problem = format_args!("`{}` is not the name of a type", name.value);
        diagnostics.report(name.span, problem, "use letters and digits, such as \"PodSpec\"");
    }
    name.value
}

fn type_meta(meta: &keys::Spanned<Vec<keys::Spanned<String>>>, diagnostics: &Diagnostics) -> Option<TypeMeta> {
    match meta.value.as_slice() {
        [api_version, kind] => {
            if let Some(help) = names::kind_problem(&kind.value) {
                diagnostics.report(kind.span, format_args!("\"{}\" is not a kind", kind.value), help);
            }
            Some(TypeMeta {
                api_version: api_version.value.clone(),
                kind: kind.value.clone(),
            })
        }
        // The parser has reported the empty list.
        [] => None,
        _ => {
            let problem = "`type_meta` takes an apiVersion and a kind";
            diagnostics.report(meta.span, problem, "write `type_meta(\"v1\", \"Status\")`");
            None
        }
    }
}

fn json_names(fields: &[CheckedField], type_meta: bool, diagnostics: &Diagnostics) {
    let mut seen: HashMap<&str, String> = HashMap::new();
    if type_meta {
        for name in ["kind", "apiVersion"] {
            seen.insert(name, "`type_meta`".to_owned());
        }
    }
    for CheckedField { model, name_span, .. } in fields.iter().filter(|field| !field.model.inline) {
        let owner = format!("`{}`", unraw(&model.ident));
        if let Some(first) = seen.get(model.name.as_str()) {
            let problem = format_args!("two fields are called \"{}\" in JSON: {first} and {owner}", model.name);
            diagnostics.report(
                *name_span,
                problem,
                "give this one another name with `#[field(name = \"...\")]`",
            );
        } else {
            seen.insert(&model.name, owner);
        }
    }
}

fn proto_numbers(fields: &[CheckedField], diagnostics: &Diagnostics) {
    let mut seen: HashMap<u32, String> = HashMap::new();
    for CheckedField { model, proto_span, .. } in fields.iter().filter(|field| field.model.proto != 0) {
        if let Some(first) = seen.get(&model.proto) {
            let problem = format_args!("protobuf number {} is taken by `{first}`", model.proto);
            let free = (1..).find(|number| fields.iter().all(|field| field.model.proto != *number));
            diagnostics.report(
                *proto_span,
                problem,
                format_args!("the next free number is {}", free.unwrap_or(1)),
            );
        } else {
            seen.insert(model.proto, unraw(&model.ident));
        }
    }
}

/// Returns the name without `r#`.
pub(crate) fn unraw(ident: &proc_macro2::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}
