//! Completes stored roles with missing rules.

use serde_json::{Value, json};

use super::complete_metadata;
use super::covers::uncovered;

/// Returns the stored role with everything that the wanted one has; `None` if it lacks nothing.
pub(super) fn completed(stored: &Value, wanted: &Value) -> Option<Value> {
    let mut role = stored.clone();
    let mut changed = complete_metadata(&mut role, wanted);
    let selectors = |role: &Value| {
        let selectors = role.pointer("/aggregationRule/clusterRoleSelectors");
        selectors.and_then(Value::as_array).cloned().unwrap_or_default()
    };
    if wanted.get("aggregationRule").is_none() {
        let missing = uncovered(list(stored, "rules"), list(wanted, "rules"));
        changed |= !missing.is_empty();
        append(&mut role["rules"], missing);
    } else {
        // The rules are aggregated from the selected roles.
        let have = selectors(stored);
        let mut missing = selectors(wanted);
        missing.retain(|selector| !have.contains(selector));
        changed |= !missing.is_empty();
        if !missing.is_empty() && role["aggregationRule"].is_null() {
            role["aggregationRule"] = json!({});
        }
        if !missing.is_empty() {
            append(&mut role["aggregationRule"]["clusterRoleSelectors"], missing);
        }
    }
    changed.then_some(role)
}

pub(super) fn list<'o>(object: &'o Value, field: &str) -> &'o [Value] {
    object[field].as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn append(list: &mut Value, more: Vec<Value>) {
    match list {
        Value::Array(list) => list.extend(more),
        none if !more.is_empty() => *none = more.into(),
        _ => {}
    }
}
