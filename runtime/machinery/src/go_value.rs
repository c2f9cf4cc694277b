//! Values as kube-apiserver prints its internal Go types: with the names of the Go fields and without omissions.
//!
//! Messages about a whole struct of a built-in kind contain it in this form, because kube-apiserver validates internal
//! types, which have no JSON names. Metadata and other types of apimachinery have JSON names there as well.

mod diff;
mod layout;
mod name;

use crate::field_error::BadValue;
use crate::json::{encode_part, encode_text};
use crate::value::{Struct, Value, View};

pub use diff::diff;

/// A value that messages print with the names of Go fields: `{"Key":"y","Value":"","TolerationSeconds":null}`.
///
/// An empty list or map counts as absent and is printed as `null`.
#[derive(Clone, Copy, Debug)]
pub struct GoValue<'a>(pub &'a dyn Value);

impl BadValue for GoValue<'_> {
    fn rendered(&self) -> String {
        match self.0.view() {
            View::Str(text) => text.rendered(),
            _ => format_text(self.0),
        }
    }
}

/// Returns the compact form.
fn format_text(value: &dyn Value) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn write(value: &dyn Value, out: &mut Vec<u8>) {
    match value.view() {
        View::Absent => out.extend_from_slice(b"null"),
        View::Struct(inner) if has_json_names(inner) => encode_part(value, out),
        View::Struct(inner) => {
            out.push(b'{');
            write_fields(inner, &mut true, out);
            out.push(b'}');
        }
        View::List(list) if list.is_empty() => out.extend_from_slice(b"null"),
        View::List(list) => {
            out.push(b'[');
            for index in 0..list.len() {
                separate(&mut (index == 0), out);
                if let Some(element) = list.get(index) {
                    write(element, out);
                }
            }
            out.push(b']');
        }
        View::Map(map) if map.is_empty() => out.extend_from_slice(b"null"),
        View::Map(map) => {
            out.push(b'{');
            let mut first = true;
            map.each(&mut |key, value| {
                write_name(key, &mut first, out);
                write(value, out);
            });
            out.push(b'}');
        }
        View::Bytes([]) => out.extend_from_slice(b"null"),
        _ => encode_part(value, out),
    }
}

/// True if Go has no separate internal type: types of the metadata package.
fn has_json_names(object: &dyn Struct) -> bool {
    object.facts().module.starts_with("planesmith_machinery")
}

fn write_fields(object: &dyn Struct, first: &mut bool, out: &mut Vec<u8>) {
    let facts = object.facts();
    for index in layout::fields(object) {
        let (field, value) = (&facts.fields[index], object.field(index));
        let lent = layout::lent(object, field.name);
        match value.view() {
            // Embedded in Go: its fields are fields of this object.
            View::Struct(inner) if field.inline => write_fields(inner, first, out),
            View::Struct(inner) if field.name == "metadata" => write_members(inner, first, out),
            View::Struct(inner) if !lent.is_empty() => {
                write_name(&name::of_field(facts, field.name), first, out);
                out.push(b'{');
                let mut first = true;
                for index in lent {
                    write_name(&name::of_field(facts, facts.fields[index].name), &mut first, out);
                    write(object.field(index), out);
                }
                write_fields(inner, &mut first, out);
                out.push(b'}');
            }
            View::Absent if layout::is_zero_if_absent(facts, field.name) => {
                write_name(&name::of_field(facts, field.name), first, out);
                out.push(b'0');
            }
            _ => {
                write_name(&name::of_field(facts, field.name), first, out);
                write(value, out);
            }
        }
    }
}

/// Writes the members of a struct with JSON names.
fn write_members(object: &dyn Struct, first: &mut bool, out: &mut Vec<u8>) {
    for (index, field) in object.facts().fields.iter().enumerate() {
        let value = object.field(index);
        if !value.view().is_omitted(field) {
            write_name(field.name, first, out);
            encode_part(value, out);
        }
    }
}

fn write_name(name: &str, first: &mut bool, out: &mut Vec<u8>) {
    separate(first, out);
    encode_text(name, out);
    out.push(b':');
}

fn separate(first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(first) {
        out.push(b',');
    }
}

#[cfg(test)]
mod tests;
