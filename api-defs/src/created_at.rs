//! The creation column of kinds that Kubernetes prints without a dedicated printer.

use planesmith_machinery::object::Object;
use planesmith_machinery::table::Cell;

/// Renders the creation time of an object as a timestamp instead of an age.
pub(crate) fn created_at<R: Object>(object: &R) -> Cell {
    match object.meta().creation_timestamp.timestamp() {
        None => Cell::Null,
        Some(_) => Cell::Text(object.meta().creation_timestamp.to_string()),
    }
}
