//! Writes a struct as JSON by walking its table.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use planesmith_wire::json::{write_double, write_int, write_str};

use super::sorted::{write_sorted, write_sorted_for_storage};
use crate::facts::{StructFacts, TypeFacts, TypeMetaFacts};
use crate::value::{List, Struct, Value, View};

/// Appends `object`, with its kind and apiVersion first if it has them.
pub(crate) fn write_struct(out: &mut Vec<u8>, object: &dyn Struct) {
    if object.is_tree() {
        return write_sorted(out, object);
    }
    out.push(b'{');
    if let Some(meta) = object.type_meta() {
        write_type_meta(out, meta);
    }
    write_fields(out, object);
    close_object(out);
}

/// Appends `object` without its kind and apiVersion.
pub(crate) fn write_bare_struct(out: &mut Vec<u8>, object: &dyn Struct) {
    out.push(b'{');
    write_fields(out, object);
    close_object(out);
}

/// Appends kind and apiVersion, each followed by a comma.
pub(crate) fn write_type_meta(out: &mut Vec<u8>, meta: TypeMetaFacts<'_>) {
    if !meta.kind.is_empty() {
        out.extend_from_slice(b"\"kind\":");
        write_str(out, meta.kind);
        out.push(b',');
    }
    if !meta.api_version.is_empty() {
        out.extend_from_slice(b"\"apiVersion\":");
        write_str(out, meta.api_version);
        out.push(b',');
    }
}

/// Turns the comma after the last field into the closing brace.
pub(crate) fn close_object(out: &mut Vec<u8>) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b'}');
}

/// Appends the fields that are not omitted, each followed by a comma.
fn write_fields(out: &mut Vec<u8>, object: &dyn Struct) {
    for (index, field) in object.facts().fields.iter().enumerate() {
        let view = object.field(index).view();
        if field.inline {
            write_inline(out, &view);
        } else if !view.is_omitted(field) {
            write_field(out, field.name, &field.ty, &view);
        }
    }
}

/// Appends the content of an inlined struct or map, each part followed by a comma.
fn write_inline(out: &mut Vec<u8>, view: &View<'_>) {
    match view {
        View::Struct(inner) => write_fields(out, *inner),
        View::Map(rest) => rest.each(&mut |key, value| {
            write_str(out, key);
            out.push(b':');
            write_value(out, value);
            out.push(b',');
        }),
        _ => {}
    }
}

/// Appends one field, followed by a comma.
pub(crate) fn write_field(out: &mut Vec<u8>, name: &str, ty: &TypeFacts, view: &View<'_>) {
    // Field names are identifiers and need no escapes.
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    match view {
        // Go distinguishes an empty list from nil; this crate does not: an empty list that is not optional is nil.
        View::List(list) if list.is_empty() && !matches!(ty, TypeFacts::Optional(_)) => {
            out.extend_from_slice(b"null");
        }
        View::Map(map) if map.is_empty() && !matches!(ty, TypeFacts::Optional(_)) => out.extend_from_slice(b"null"),
        View::Bytes(bytes) if bytes.is_empty() && !matches!(ty, TypeFacts::Optional(_)) => {
            out.extend_from_slice(b"null");
        }
        // The field determines the type of the struct, so kind and apiVersion are omitted.
        View::Struct(inner) => write_bare_struct(out, *inner),
        other => write_view(out, other),
    }
    out.push(b',');
}

/// Appends any value.
pub(crate) fn write_value(out: &mut Vec<u8>, value: &dyn Value) {
    write_view(out, &value.view());
}

pub(crate) fn write_view(out: &mut Vec<u8>, view: &View<'_>) {
    match view {
        View::Absent => out.extend_from_slice(b"null"),
        View::Bool(true) => out.extend_from_slice(b"true"),
        View::Bool(false) => out.extend_from_slice(b"false"),
        View::Int(value) => write_int(out, *value),
        View::Double(value) => write_double(out, *value),
        View::Str(value) => write_str(out, value),
        View::Bytes(bytes) => write_bytes(out, bytes),
        View::Scalar(value) => value.write_json(out),
        View::Struct(value) => write_struct(out, *value),
        View::List(list) => write_list(out, *list, write_value),
        View::Map(_) => {
            out.push(b'{');
            write_inline(out, view);
            close_object(out);
        }
    }
}

/// Appends a list whose elements `write` appends.
pub(super) fn write_list(out: &mut Vec<u8>, list: &dyn List, write: impl Fn(&mut Vec<u8>, &dyn Value)) {
    out.push(b'[');
    for index in 0..list.len() {
        if index > 0 {
            out.push(b',');
        }
        if let Some(element) = list.get(index) {
            write(out, element);
        }
    }
    out.push(b']');
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD
        .encode_slice(bytes, &mut out[start..])
        .expect("the space was computed from the length");
    out.truncate(start + written);
    out.push(b'"');
}

/// Appends the storage form of `object` and returns the offset of the digits of its resource version; see
/// [`super::encode_for_storage`].
pub(crate) fn write_for_storage(out: &mut Vec<u8>, object: &dyn Struct) -> usize {
    if object.is_tree() {
        return write_sorted_for_storage(out, object);
    }
    let facts: &StructFacts = object.facts();
    let mut gap = 0;
    out.push(b'{');
    if let Some(meta) = object.type_meta() {
        write_type_meta(out, meta);
    }
    for (index, field) in facts.fields.iter().enumerate() {
        let view = object.field(index).view();
        match &view {
            View::Struct(metadata) if field.name == "metadata" => {
                out.extend_from_slice(b"\"metadata\":");
                gap = write_metadata_with_gap(out, *metadata);
                out.push(b',');
            }
            inlined if field.inline => write_inline(out, inlined),
            _ if view.is_omitted(field) => {}
            _ => write_field(out, field.name, &field.ty, &view),
        }
    }
    close_object(out);
    gap
}

/// Appends metadata with an empty resourceVersion; returns the offset of its digits.
fn write_metadata_with_gap(out: &mut Vec<u8>, metadata: &dyn Struct) -> usize {
    let mut gap = 0;
    out.push(b'{');
    for (index, field) in metadata.facts().fields.iter().enumerate() {
        if field.name == "resourceVersion" {
            out.extend_from_slice(b"\"resourceVersion\":\"");
            gap = out.len();
            out.extend_from_slice(b"\",");
            continue;
        }
        let view = metadata.field(index).view();
        if !view.is_omitted(field) {
            write_field(out, field.name, &field.ty, &view);
        }
    }
    close_object(out);
    gap
}
