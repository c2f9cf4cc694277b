//! Checks of a single field: its name, its number, its omission and its list type.

use proc_macro2::Span;
use syn::Field;
use syn::spanned::Spanned as _;

use super::super::attr::{FieldAttrs, ListWord};
use super::super::model::{FieldModel, ListType, Listing, Omit, PatchModel};
use super::{CheckedField, bounds, unraw};
use crate::diagnostics::Diagnostics;
use crate::keys::{Spanned, Texts};
use crate::type_ref::TypeRef;
use crate::{docs, names};

/// Field numbers reserved by protobuf.
const PROTO_RESERVED: std::ops::RangeInclusive<u32> = 19_000..=19_999;
/// Field numbers have 29 bits on the wire.
const PROTO_LAST: u32 = (1 << 29) - 1;

/// Returns the model of a named field.
pub(super) fn check(field: &Field, attrs: FieldAttrs, diagnostics: &Diagnostics) -> Option<CheckedField> {
    let ident = field.ident.clone()?;
    let shape = TypeRef::from_type(&field.ty);
    holdable(field, &shape, diagnostics);
    inline(&attrs, &shape, diagnostics);
    let name = name(&attrs, &unraw(&ident), diagnostics);
    let model = FieldModel {
        ty: field.ty.clone(),
        name,
        omit: omit(&attrs, diagnostics),
        proto: proto(&attrs, diagnostics),
        doc: docs::doc_text(&field.attrs),
        inline: attrs.inline.is_some(),
        required: attrs.required.is_some(),
        listing: listing(&attrs, diagnostics),
        rules: bounds::rules(&attrs, &shape, diagnostics),
        known_at: match attrs.bounds.known.as_ref().map(|given| &given.value) {
            Some(Texts::Constant(path)) => Some(path.clone()),
            Some(Texts::Literals(_)) | None => None,
        },
        list: list(&attrs, &shape, diagnostics),
        atomic: atomic(&attrs, &shape, diagnostics),
        granular: granular(&attrs, &shape, diagnostics),
        patch: patch(&attrs, &shape, diagnostics),
        moved_to: moved_to(&attrs, diagnostics),
        discriminator: attrs.discriminator.is_some(),
        go_name: go_name(&attrs, diagnostics),
        go_type: go_type(&attrs, diagnostics),
        default: attrs.default.map(|default| default.value),
        shape,
        ident,
    };
    let ident_span = model.ident.span();
    Some(CheckedField {
        model,
        name_span: attrs.name.map_or(ident_span, |name| name.span),
        proto_span: attrs.proto.map_or(ident_span, |proto| proto.span),
    })
}

fn holdable(field: &Field, shape: &TypeRef, diagnostics: &Diagnostics) {
    if is_twice_optional(shape) {
        let problem = "a value cannot be absent in two ways";
        diagnostics.report(field.ty.span(), problem, "write one `Option`: JSON has one `null`");
    }
    let problem = match innermost(shape) {
        TypeRef::Other => "objects cannot hold values of this type".to_owned(),
        TypeRef::Named(path) => match path.get_ident().map(ToString::to_string).as_deref() {
            Some(number @ ("u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "isize" | "f32")) => {
                format!("the API has no numbers of the type `{number}`")
            }
            _ => return,
        },
        _ => return,
    };
    let help = "use `bool`, `i32`, `i64`, `f64`, `String`, `Vec<T>`, `BTreeMap<String, T>`, `Option<T>`, a type of \
                machinery, or a struct with `#[derive(Struct)]`";
    diagnostics.report(field.ty.span(), problem, help);
}

/// True if an option contains an option, directly or in a list or map.
fn is_twice_optional(shape: &TypeRef) -> bool {
    match shape {
        TypeRef::Optional(inner) => matches!(**inner, TypeRef::Optional(_)) || is_twice_optional(inner),
        TypeRef::List(inner) | TypeRef::Map(inner) => is_twice_optional(inner),
        _ => false,
    }
}

/// Returns the shape inside lists, maps and options.
fn innermost(shape: &TypeRef) -> &TypeRef {
    match shape {
        TypeRef::List(inner) | TypeRef::Map(inner) | TypeRef::Optional(inner) => innermost(inner),
        leaf => leaf,
    }
}

fn inline(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) {
    let Some(inline) = attrs.inline else {
        return;
    };
    if !matches!(shape, TypeRef::Named(_) | TypeRef::Other) {
        let problem = format_args!("`inline` needs a struct; this field is {}", shape.noun());
        diagnostics.report(inline, problem, "remove `inline`, or give the field a struct type");
    }
    let span = |given: &Option<Spanned<String>>| given.as_ref().map(|given| given.span);
    let others = [
        ("name", span(&attrs.name)),
        ("keep", attrs.keep),
        ("omit_zero", attrs.omit_zero),
        ("required", attrs.required),
        ("expected", attrs.expected),
        ("optional", attrs.optional),
        ("default", span(&attrs.default)),
        ("immutable", attrs.immutable),
        ("unique", attrs.unique),
        ("atomic", attrs.atomic),
        ("granular", attrs.granular),
        ("moved_to", span(&attrs.moved_to)),
        ("patch_merge_key", span(&attrs.patch_merge_key)),
        ("patch_strategy", attrs.patch_strategy.as_ref().map(|given| given.span)),
        ("list_type", attrs.list_type.as_ref().map(|given| given.span)),
    ];
    for (key, span) in others {
        if let Some(span) = span {
            contradiction(
                key,
                span,
                "inline",
                "an inlined field has no name of its own; remove one",
                diagnostics,
            );
        }
    }
}

/// Reports "`key` contradicts `other`" at the second of the two keys.
fn contradiction(key: &str, at: Span, other: &str, help: &str, diagnostics: &Diagnostics) {
    diagnostics.report(at, format_args!("`{key}` contradicts `{other}`"), help);
}

fn name(attrs: &FieldAttrs, field: &str, diagnostics: &Diagnostics) -> String {
    let Some(name) = &attrs.name else {
        return if attrs.inline.is_some() {
            String::new()
        } else {
            names::camel_case(field)
        };
    };
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_-$.".contains(&byte);
    if name.value.is_empty() || !name.value.bytes().all(legal) {
        let problem = format_args!("\"{}\" is not the JSON name of a field", name.value);
        diagnostics.report(name.span, problem, "use letters and digits, such as \"clusterIP\"");
    }
    name.value.clone()
}

fn omit(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> Omit {
    match (attrs.keep, attrs.omit_zero) {
        (Some(_), Some(omit_zero)) => {
            let help = "`keep` writes the field always, `omit_zero` leaves it out when it holds nothing; keep one";
            contradiction("omit_zero", omit_zero, "keep", help, diagnostics);
            Omit::Never
        }
        (Some(_), None) => Omit::Never,
        (None, Some(_)) => Omit::Zero,
        (None, None) => Omit::Empty,
    }
}

fn listing(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> Listing {
    let help = "`required` refuses an empty field, `expected` only lists it as required, `optional` does not; keep one";
    let given = [
        ("required", attrs.required),
        ("expected", attrs.expected),
        ("optional", attrs.optional),
    ];
    if let (Some(default), Some(_)) = (&attrs.default, attrs.required) {
        let help = "a field with a default is never empty; keep one";
        contradiction("default", default.span, "required", help, diagnostics);
    }
    let mut first = None;
    for (key, span) in given {
        match (span, first) {
            (Some(span), Some(first)) => contradiction(key, span, first, help, diagnostics),
            (Some(_), None) => first = Some(key),
            (None, _) => {}
        }
    }
    match first {
        Some("expected") => Listing::Required,
        Some("optional") => Listing::Optional,
        _ => Listing::AsWritten,
    }
}

fn proto(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> u32 {
    let Some(proto) = &attrs.proto else {
        return 0;
    };
    let problem = match proto.value {
        0 => "protobuf numbers start at 1".to_owned(),
        number if PROTO_RESERVED.contains(&number) => {
            format!(
                "protobuf reserves the numbers {} to {}",
                PROTO_RESERVED.start(),
                PROTO_RESERVED.end()
            )
        }
        number if number > PROTO_LAST => format!("protobuf numbers end at {PROTO_LAST}"),
        number => return number,
    };
    diagnostics.report(
        proto.span,
        problem,
        "use the next free number of this struct, or leave `proto` out",
    );
    0
}

fn list(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) -> ListType {
    let keys = attrs.list_map_keys.as_ref();
    let Some(word) = &attrs.list_type else {
        if let Some(keys) = keys.filter(|_| !attrs.has_list_type) {
            let help = "add `list_type = map`";
            diagnostics.report(keys.span, "`list_map_keys` is for lists with `list_type = map`", help);
        }
        return ListType::Unspecified;
    };
    if !matches!(shape.present(), TypeRef::List(_) | TypeRef::Named(_) | TypeRef::Other) {
        let problem = format_args!("`list_type` needs a list; this field is {}", shape.noun());
        let help = if matches!(shape.present(), TypeRef::Map(_)) {
            "write `atomic`, or remove it"
        } else {
            "remove it"
        };
        diagnostics.report(word.span, problem, help);
    }
    if let (Some(keys), ListWord::Atomic | ListWord::Set) = (keys, word.value) {
        let help = "write `list_type = map`, or remove the keys";
        diagnostics.report(keys.span, "`list_map_keys` is for lists with `list_type = map`", help);
    }
    match word.value {
        ListWord::Atomic => ListType::Atomic,
        ListWord::Set => ListType::Set,
        ListWord::Map => list_map(word.span, keys, shape, diagnostics),
    }
}

fn list_map(
    at: Span,
    keys: Option<&Spanned<Vec<Spanned<String>>>>,
    shape: &TypeRef,
    diagnostics: &Diagnostics,
) -> ListType {
    if let TypeRef::List(element) = shape.present()
        && !matches!(element.present(), TypeRef::Named(_) | TypeRef::Other)
    {
        let problem = format_args!(
            "`list_type = map` needs structs in the list; these are {}",
            plural(element)
        );
        diagnostics.report(at, problem, "write `list_type = set` or `list_type = atomic`");
    }
    let Some(keys) = keys else {
        let help = "add `list_map_keys(\"name\")` with the fields that tell elements apart";
        diagnostics.report(at, "`list_type = map` needs keys", help);
        return ListType::Map(Vec::new());
    };
    for (index, key) in keys.value.iter().enumerate() {
        if keys.value[..index].iter().any(|other| other.value == key.value) {
            diagnostics.report(
                key.span,
                format_args!("the key \"{}\" is written twice", key.value),
                "keep one of them",
            );
        }
    }
    ListType::Map(keys.value.iter().map(|key| key.value.clone()).collect())
}

fn plural(element: &TypeRef) -> &'static str {
    match element.present() {
        TypeRef::Bool => "booleans",
        TypeRef::Int32 | TypeRef::Int64 | TypeRef::Double => "numbers",
        TypeRef::List(_) => "lists",
        TypeRef::Map(_) => "maps",
        _ => "texts",
    }
}

fn atomic(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) -> bool {
    let Some(atomic) = attrs.atomic else {
        return false;
    };
    let help = match shape.present() {
        TypeRef::Map(_) | TypeRef::Named(_) | TypeRef::Other => return true,
        TypeRef::List(_) => "write `list_type = atomic`",
        _ => "remove it; such a value is always replaced as a whole",
    };
    let problem = format_args!("`atomic` needs a map or a struct; this field is {}", shape.noun());
    diagnostics.report(atomic, problem, help);
    true
}

fn granular(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) -> bool {
    let Some(granular) = attrs.granular else {
        return false;
    };
    if attrs.atomic.is_some() {
        contradiction("granular", granular, "atomic", "remove one", diagnostics);
    }
    if !matches!(shape.present(), TypeRef::Map(_) | TypeRef::Named(_) | TypeRef::Other) {
        let problem = format_args!("`granular` needs a map or a struct; this field is {}", shape.noun());
        diagnostics.report(granular, problem, "remove it");
    }
    true
}

fn patch(attrs: &FieldAttrs, shape: &TypeRef, diagnostics: &Diagnostics) -> Option<PatchModel> {
    let merge = attrs
        .patch_strategy
        .as_ref()
        .is_some_and(|strategy| strategy.value.merge);
    if let Some(key) = &attrs.patch_merge_key {
        if !merge {
            let problem = "`patch_merge_key` is for fields with `patch_strategy(merge)`";
            diagnostics.report(key.span, problem, "add `patch_strategy(merge)`, or remove the key");
        }
        if !matches!(shape.present(), TypeRef::List(_) | TypeRef::Named(_) | TypeRef::Other) {
            let problem = format_args!("`patch_merge_key` needs a list; this field is {}", shape.noun());
            diagnostics.report(key.span, problem, "remove it");
        }
    }
    let strategy = attrs.patch_strategy.as_ref()?;
    Some(PatchModel {
        merge,
        retain_keys: strategy.value.retain_keys,
        replace: strategy.value.replace,
        merge_key: attrs
            .patch_merge_key
            .as_ref()
            .map(|key| key.value.clone())
            .unwrap_or_default(),
    })
}

fn go_name(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> String {
    let Some(name) = &attrs.go_name else {
        return String::new();
    };
    let is_name = name.value.starts_with(|first: char| first.is_ascii_uppercase())
        && name.value.chars().all(|c| c.is_ascii_alphanumeric());
    if !is_name {
        let problem = format_args!("{:?} is not the name of a public field in Go", name.value);
        diagnostics.report(
            name.span,
            problem,
            "write the field as Go declares it, such as \"CephMonitors\"",
        );
    }
    name.value.clone()
}

fn go_type(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> String {
    let Some(name) = &attrs.go_type else {
        return String::new();
    };
    if !name.value.ends_with(|last: char| last.is_ascii_alphanumeric()) || name.value.contains(char::is_whitespace) {
        let problem = format_args!("{:?} is not the name of a type in Go", name.value);
        diagnostics.report(
            name.span,
            problem,
            "write the type as Go declares it, such as \"PullPolicy\" or \"[]Capability\"",
        );
    }
    name.value.clone()
}

fn moved_to(attrs: &FieldAttrs, diagnostics: &Diagnostics) -> Option<String> {
    let path = attrs.moved_to.as_ref()?;
    if path.value.split('.').any(str::is_empty) {
        let problem = format_args!("\"{}\" is not a dotted path", path.value);
        diagnostics.report(
            path.span,
            problem,
            "write the path from the root in JSON names, such as \"spec.newPlace\"",
        );
    }
    Some(path.value.clone())
}
