//! Equality of values of one type.

use super::{Struct, View};

/// True if two structs of one type are equal.
#[must_use]
pub fn equal_structs(left: &dyn Struct, right: &dyn Struct) -> bool {
    std::ptr::eq(left.facts(), right.facts())
        && (0..left.facts().fields.len()).all(|index| equal(&left.field(index).view(), &right.field(index).view()))
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
        (View::Map(left), View::Map(right)) => {
            let mut same = left.len() == right.len();
            if same {
                left.each(&mut |key, value| {
                    same = same && right.get(key).is_some_and(|other| equal(&value.view(), &other.view()));
                });
            }
            same
        }
        _ => false,
    }
}
