//! Completes stored role bindings with missing subjects.

use serde_json::Value;

use super::complete_metadata;
use super::roles::{append, list};

/// Returns the stored binding with everything that the wanted one has; `None` if it lacks nothing.
pub(super) fn completed(stored: &Value, wanted: &Value) -> Option<Value> {
    let mut binding = stored.clone();
    let mut changed = complete_metadata(&mut binding, wanted);
    let have = list(stored, "subjects");
    let mut missing = list(wanted, "subjects").to_vec();
    missing.retain(|subject| !have.contains(subject));
    changed |= !missing.is_empty();
    append(&mut binding["subjects"], missing);
    changed.then_some(binding)
}
