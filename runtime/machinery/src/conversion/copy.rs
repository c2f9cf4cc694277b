//! Copies values between types that share JSON names.

use super::find;
use crate::facts::TypeFacts;
use crate::value::{Slot, Struct, Value, View};

/// Copies each field of `to` from the field of the same JSON name and shape of `from`, if `stays` returns true for its
/// path. Fields that `from` omits from JSON stay zero.
pub(super) fn copy_struct(
    from: &dyn Struct,
    to: &mut dyn Struct,
    path: &mut Vec<&'static str>,
    stays: &dyn Fn(&[&str]) -> bool,
) {
    for (index, field) in to.facts().fields.iter().enumerate() {
        if field.inline {
            if let Slot::Struct(inner) = to.field_mut(index).slot() {
                copy_struct(from, inner, path, stays);
            }
            continue;
        }
        path.push(field.name);
        if stays(path)
            && let Some((facts, source)) = find(from, field.name)
            && !source.view().is_omitted(facts)
        {
            copy_value(source, to.field_mut(index), path, stays);
        }
        path.pop();
    }
}

/// Copies a value if the target has a matching shape; otherwise the target stays zero.
pub(super) fn copy_value(
    from: &dyn Value,
    to: &mut dyn Value,
    path: &mut Vec<&'static str>,
    stays: &dyn Fn(&[&str]) -> bool,
) {
    match (from.view(), to.slot()) {
        (View::Absent, _) => to.reset(),
        (_, Slot::Optional(optional)) => copy_value(from, optional.insert(), path, stays),
        (View::Bool(value), Slot::Bool(target)) => *target = value,
        (View::Int(value), Slot::Int64(target)) => *target = value,
        (View::Int(value), Slot::Int32(target)) => *target = i32::try_from(value).unwrap_or(i32::MAX),
        (View::Double(value), Slot::Double(target)) => *target = value,
        (View::Str(value), Slot::Str(target)) => value.clone_into(target),
        (View::Bytes(value), Slot::Bytes(target)) => value.clone_into(target),
        (View::Scalar(value), Slot::Scalar(target)) if std::ptr::eq(value.facts(), target.facts()) => {
            let mut payload = Vec::new();
            value.write_proto(&mut payload);
            // A type can decode its own encoding.
            let _ = target.read_proto(&payload);
        }
        (View::Struct(value), Slot::Struct(target)) => copy_struct(value, target, path, stays),
        (View::List(values), Slot::List(target)) => {
            target.clear();
            for index in 0..values.len() {
                if let Some(value) = values.get(index) {
                    copy_value(value, target.push(), &mut Vec::new(), &|_| true);
                }
            }
        }
        (View::Map(values), Slot::Map(target)) => {
            target.clear();
            values.each(&mut |key, value| copy_value(value, target.entry(key), &mut Vec::new(), &|_| true));
        }
        _ => {}
    }
}

/// True if a value of one type can be copied to the other.
pub(super) fn fits(from: &TypeFacts, to: &TypeFacts) -> bool {
    match (from.present(), to.present()) {
        (TypeFacts::Bool, TypeFacts::Bool)
        | (TypeFacts::Int32 | TypeFacts::Int64, TypeFacts::Int64)
        | (TypeFacts::Int32, TypeFacts::Int32)
        | (TypeFacts::Double, TypeFacts::Double)
        | (TypeFacts::String, TypeFacts::String)
        | (TypeFacts::Bytes, TypeFacts::Bytes)
        | (TypeFacts::Struct(_), TypeFacts::Struct(_)) => true,
        (TypeFacts::Scalar(from), TypeFacts::Scalar(to)) => std::ptr::eq(*from, *to),
        (TypeFacts::List(from), TypeFacts::List(to)) | (TypeFacts::Map(from), TypeFacts::Map(to)) => fits(from, to),
        _ => false,
    }
}
