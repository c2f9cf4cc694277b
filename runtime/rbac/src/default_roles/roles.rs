//! Completes stored roles with missing rules.

use serde_json::{Value, json};

use planesmith_access::authorization::rbac::{self, Rule};
use planesmith_api_defs::rbac::v1::PolicyRule;
use planesmith_machinery::json::{self as machinery_json, Strictness};

use super::complete_metadata;
use crate::policy_kinds;

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
        if let Some(role) = role.as_object_mut() {
            changed |= role.remove("aggregationRule").is_some();
        }
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

/// Returns the parts of the rules `wanted` that `have` does not cover, each about one verb and one resource.
fn uncovered(have: &[Value], wanted: &[Value]) -> Vec<Value> {
    let rules = |values: &[Value]| -> Vec<Rule> { values.iter().map(rule).collect() };
    let missing = rbac::uncovered(&rules(have), &rules(wanted));
    missing.into_iter().map(document).collect()
}

/// A rule that cannot be read permits nothing.
fn rule(document: &Value) -> Rule {
    let mut typed = PolicyRule::default();
    let bytes = document.to_string();
    match machinery_json::decode(bytes.as_bytes(), &mut typed, Strictness::Lenient) {
        Ok(_) => policy_kinds::rule(&typed),
        Err(_) => Rule::default(),
    }
}

/// The document of a rule, without the members that have no values.
fn document(rule: Rule) -> Value {
    let mut document = json!({"verbs": rule.verbs});
    for (member, list) in [
        ("apiGroups", rule.groups),
        ("resources", rule.resources),
        ("resourceNames", rule.names),
        ("nonResourceURLs", rule.paths),
    ] {
        if !list.is_empty() {
            document[member] = list.into();
        }
    }
    document
}
