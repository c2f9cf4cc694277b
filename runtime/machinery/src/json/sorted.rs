//! Writes an object as kube-apiserver writes unstructured objects: with sorted keys at every depth.

use planesmith_wire::json::write_str;
use planesmith_wire::sorting::sort_by_key;

use super::writer::{close_object, write_list, write_value, write_view};
use super::{Strictness, encode_value, parse_value};
use crate::facts::FieldFacts;
use crate::leaves::is_field_set;
use crate::scalar::Scalar;
use crate::value::{Struct, Value, View};

/// A top-level member of an object.
enum Member<'a> {
    Text(&'a str),
    /// A field of the struct.
    Field(View<'a>),
    /// An entry of a map that is written inline.
    Entry(&'a dyn Value),
}

/// Appends `object` with its kind and apiVersion.
pub(super) fn write_sorted(out: &mut Vec<u8>, object: &dyn Struct) {
    for (name, member) in open(out, object) {
        write_member(out, name, &member);
    }
    close_object(out);
}

/// Like [`write_sorted`], with an empty resourceVersion; returns the offset of its digits.
pub(super) fn write_sorted_for_storage(out: &mut Vec<u8>, object: &dyn Struct) -> usize {
    let mut gap = 0;
    for (name, member) in open(out, object) {
        match member {
            Member::Field(View::Struct(metadata)) if name == "metadata" => {
                begin(out, name);
                gap = write_metadata_with_gap(out, metadata);
                out.push(b',');
            }
            member => write_member(out, name, &member),
        }
    }
    close_object(out);
    gap
}

/// Opens an object and returns its members in sorted order.
fn open<'a>(out: &mut Vec<u8>, object: &'a dyn Struct) -> Vec<(&'a str, Member<'a>)> {
    out.push(b'{');
    let facts = object.facts();
    let mut members = Vec::with_capacity(facts.fields.len() + 2);
    if let Some(meta) = object.type_meta() {
        members.push(("apiVersion", Member::Text(meta.api_version)));
        members.push(("kind", Member::Text(meta.kind)));
    }
    for (index, field) in facts.fields.iter().enumerate() {
        let view = object.field(index).view();
        match &view {
            View::Map(rest) if field.inline => rest.each(&mut |name, value| members.push((name, Member::Entry(value)))),
            _ if view.is_omitted(field) => {}
            _ => members.push((field.name, Member::Field(view))),
        }
    }
    sort_by_key(&mut members, |(name, _)| *name);
    members
}

/// Appends a member, followed by a comma.
fn write_member(out: &mut Vec<u8>, name: &str, member: &Member<'_>) {
    begin(out, name);
    match member {
        Member::Text(text) => write_str(out, text),
        Member::Field(view) => write_sorted_view(out, view),
        // Trees are always sorted.
        Member::Entry(value) => write_value(out, *value),
    }
    out.push(b',');
}

fn begin(out: &mut Vec<u8>, name: &str) {
    write_str(out, name);
    out.push(b':');
}

fn write_sorted_view(out: &mut Vec<u8>, view: &View<'_>) {
    match view {
        View::Struct(inner) => {
            out.push(b'{');
            for (field, view) in sorted_fields(*inner) {
                if !view.is_omitted(field) {
                    write_member(out, field.name, &Member::Field(view));
                }
            }
            close_object(out);
        }
        View::List(list) => write_list(out, *list, |out, element| write_sorted_view(out, &element.view())),
        View::Scalar(scalar) => write_scalar(out, *scalar),
        other => write_view(out, other),
    }
}

/// Returns the fields of a struct in the order of their names.
fn sorted_fields(object: &dyn Struct) -> Vec<(&'static FieldFacts, View<'_>)> {
    let fields = object.facts().fields.iter().enumerate();
    let mut fields: Vec<_> = fields
        .map(|(index, field)| (field, object.field(index).view()))
        .collect();
    sort_by_key(&mut fields, |(field, _)| field.name);
    fields
}

/// Appends metadata with an empty resourceVersion; returns the offset of its digits.
fn write_metadata_with_gap(out: &mut Vec<u8>, metadata: &dyn Struct) -> usize {
    let mut gap = 0;
    out.push(b'{');
    for (field, view) in sorted_fields(metadata) {
        if field.name == "resourceVersion" {
            begin(out, field.name);
            out.push(b'"');
            gap = out.len();
            out.extend_from_slice(b"\",");
        } else if !view.is_omitted(field) {
            write_member(out, field.name, &Member::Field(view));
        }
    }
    close_object(out);
    gap
}

fn write_scalar(out: &mut Vec<u8>, scalar: &dyn Scalar) {
    let start = out.len();
    scalar.write_json(out);
    if is_field_set(scalar) && !has_plain_steps(&out[start..]) {
        sort(out, start);
    }
}

/// True if a field set contains only plain names, whose order is the same in the set and in sorted JSON.
fn has_plain_steps(set: &[u8]) -> bool {
    !set.contains(&b'\\') && !set.windows(3).any(|part| matches!(part, b"\"k:" | b"\"v:" | b"\"i:"))
}

/// Sorts the keys of the JSON after `start`.
fn sort(out: &mut Vec<u8>, start: usize) {
    if let Ok((tree, _)) = parse_value(&out[start..], Strictness::Lenient) {
        out.truncate(start);
        encode_value(&tree, out);
    }
}
