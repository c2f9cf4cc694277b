//! Equality of values of one type.

use super::{Map, Struct, View};

/// True if two structs of one type are equal.
#[must_use]
pub fn equal_structs(left: &dyn Struct, right: &dyn Struct) -> bool {
    std::ptr::eq(left.facts(), right.facts())
        && (0..left.facts().fields.len()).all(|index| equal(&left.field(index).view(), &right.field(index).view()))
}

/// True if two structs of one type are equal in all fields but those named in `ignored`.
#[must_use]
pub fn equal_except(ignored: &[&str], left: &dyn Struct, right: &dyn Struct) -> bool {
    left.facts().fields.iter().enumerate().all(|(index, field)| {
        ignored.contains(&field.name)
            || match (left.field(index).view(), right.field(index).view()) {
                (View::Map(left), View::Map(right)) if field.inline => equal_entries(ignored, left, right),
                (left, right) => equal(&left, &right),
            }
    })
}

fn equal_entries(ignored: &[&str], left: &dyn Map, right: &dyn Map) -> bool {
    let left_out = |map: &dyn Map| ignored.iter().filter(|name| map.get(name).is_some()).count();
    let mut same = left.len() - left_out(left) == right.len() - left_out(right);
    left.each(&mut |key, value| {
        same =
            same && (ignored.contains(&key) || right.get(key).is_some_and(|other| equal(&value.view(), &other.view())));
    });
    same
}

/// True if two values of one type are equal; an absent list or map differs from an empty one only if it is optional.
#[must_use]
pub fn equal(left: &View<'_>, right: &View<'_>) -> bool {
    match (left, right) {
        (View::Absent, View::Absent) => true,
        (View::Bool(left), View::Bool(right)) => left == right,
        (View::Int(left), View::Int(right)) => left == right,
        (View::Double(left), View::Double(right)) => left == right,
        (View::Str(left), View::Str(right)) => left == right,
        (View::Bytes(left), View::Bytes(right)) => left == right,
        (View::Struct(left), View::Struct(right)) => equal_structs(*left, *right),
        (View::Scalar(left), View::Scalar(right)) => {
            let (mut left_json, mut right_json) = (Vec::with_capacity(32), Vec::with_capacity(32));
            left.write_json(&mut left_json);
            right.write_json(&mut right_json);
            left_json == right_json
        }
        (View::List(left), View::List(right)) => {
            let same = |index| match (left.get(index), right.get(index)) {
                (Some(left), Some(right)) => equal(&left.view(), &right.view()),
                _ => false,
            };
            left.len() == right.len() && (0..left.len()).all(same)
        }
        (View::Map(left), View::Map(right)) => equal_entries(&[], *left, *right),
        _ => false,
    }
}
