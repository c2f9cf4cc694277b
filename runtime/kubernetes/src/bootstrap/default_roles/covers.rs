//! Computes the parts of rules that other rules do not cover.

use serde_json::{Map, Value, json};

/// Returns the parts of `wanted` that `have` does not cover, each about one verb and one resource.
pub(super) fn uncovered(have: &[Value], wanted: &[Value]) -> Vec<Value> {
    let parts = wanted.iter().flat_map(parts);
    let missing = parts.filter(|part| !have.iter().any(|rule| allows(rule, part)));
    missing.map(Value::Object).collect()
}

/// Splits a rule into rules about one verb and one resource each.
fn parts(rule: &Value) -> Vec<Map<String, Value>> {
    let mut parts = Vec::new();
    let mut add = |fields: Value| {
        if let Value::Object(fields) = fields {
            parts.push(fields);
        }
    };
    for group in names(rule, "apiGroups") {
        for resource in names(rule, "resources") {
            for verb in names(rule, "verbs") {
                let part = json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]});
                let mut of_any = true;
                for name in names(rule, "resourceNames") {
                    of_any = false;
                    let mut named = part.clone();
                    named["resourceNames"] = json!([name]);
                    add(named);
                }
                if of_any {
                    add(part);
                }
            }
        }
    }
    for path in names(rule, "nonResourceURLs") {
        for verb in names(rule, "verbs") {
            add(json!({"verbs": [verb], "nonResourceURLs": [path]}));
        }
    }
    parts
}

/// True if a rule covers a part of another one.
fn allows(rule: &Value, part: &Map<String, Value>) -> bool {
    let only = |field: &str| part.get(field).and_then(|names| names.get(0)).and_then(Value::as_str);
    let verb = only("verbs").is_some_and(|verb| names(rule, "verbs").any(|have| have == "*" || have == verb));
    if !verb {
        return false;
    }
    if let Some(path) = only("nonResourceURLs") {
        return names(rule, "nonResourceURLs").any(|have| match have.strip_suffix('*') {
            Some(start) => path.starts_with(start),
            None => have == path,
        });
    }
    let group =
        only("apiGroups").is_some_and(|group| names(rule, "apiGroups").any(|have| have == "*" || have == group));
    let resource = only("resources").is_some_and(|resource| {
        let part_of_any = resource.split_once('/').map(|(_, part)| format!("*/{part}"));
        names(rule, "resources").any(|have| have == "*" || have == resource || Some(have) == part_of_any.as_deref())
    });
    let all_names = names(rule, "resourceNames").next().is_none();
    let name = only("resourceNames");
    group && resource && (all_names || name.is_some_and(|name| names(rule, "resourceNames").any(|have| have == name)))
}

fn names<'r>(rule: &'r Value, field: &str) -> impl Iterator<Item = &'r str> {
    rule[field].as_array().into_iter().flatten().filter_map(Value::as_str)
}
