//! Annotations that carry the fields of the newest autoscaler version that this version lacks.
//!
//! Metrics use the format of the first version with several metrics, behavior that of Kubernetes' internal version, so
//! that clients and other API servers can read both. Field names are matched case-insensitively, as Go does.

mod behavior;
mod letter_case;
mod metric_spec;
mod metric_status;

use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::value::Struct;
use serde_json::Value;

pub(super) use behavior::Behavior;
pub(super) use metric_spec::MetricSpec;
pub(super) use metric_status::MetricStatus;

/// Serializes `items` as a JSON array.
pub(super) fn write_list<T: Struct>(items: impl IntoIterator<Item = T>) -> String {
    let mut out = vec![b'['];
    for item in items {
        if out.len() > 1 {
            out.push(b',');
        }
        json::encode_item(&item, &mut out);
    }
    out.push(b']');
    String::from_utf8_lossy(&out).into_owned()
}

/// Parses a JSON array; `None` when `text` is something else, which clients can write into an annotation.
pub(super) fn read_list<T: Struct + Default>(text: &str) -> Option<Vec<T>> {
    let (mut value, _) = json::parse_value(text.as_bytes(), Strictness::Lenient).ok()?;
    let read = |value: &mut Value| {
        let mut item = T::default();
        letter_case::adopt(value, item.facts());
        json::from_value(value, &mut item, Strictness::Lenient).ok()?;
        Some(item)
    };
    value.as_array_mut()?.iter_mut().map(read).collect()
}

/// Serializes `item` as a JSON object.
pub(super) fn write<T: Struct>(item: &T) -> String {
    String::from_utf8_lossy(&json::to_vec(item)).into_owned()
}

/// Parses a JSON object; `None` when `text` is something else.
pub(super) fn read<T: Struct + Default>(text: &str) -> Option<T> {
    let (mut value, _) = json::parse_value(text.as_bytes(), Strictness::Lenient).ok()?;
    let mut item = T::default();
    letter_case::adopt(&mut value, item.facts());
    json::from_value(&value, &mut item, Strictness::Lenient).ok()?;
    Some(item)
}
