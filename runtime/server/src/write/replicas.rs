//! The number of replicas of an object, which its Scale shows.

use planesmith_machinery::object::Object;
use planesmith_machinery::value;

/// The number at a dotted path; 0 when there is none.
pub(crate) fn replicas_at(object: &dyn Object, path: &str) -> i32 {
    find_replicas(object, path).unwrap_or_default()
}

/// The number at a dotted path, or the largest one if it is larger; `None` when there is none.
pub(crate) fn find_replicas(object: &dyn Object, path: &str) -> Option<i32> {
    let number = value::number_at(object, path)?;
    Some(i32::try_from(number).unwrap_or(i32::MAX))
}
