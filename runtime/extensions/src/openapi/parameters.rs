//! The parameters of paths and of their operations.

use serde_json::{Value, json};

use super::model::Dialect;

/// The name of the parameter of namespaces in all documents of version 2.
const NAMESPACE: &str = "namespace-vgWSWtn3";

const SHARED: &str = "#/parameters/";

/// Returns the name of a parameter, or of the shared one that it refers to, whose key is the name with a hash.
pub(super) fn name(parameter: &Value) -> &str {
    let shared = parameter.get("$ref").and_then(Value::as_str).unwrap_or_default();
    let key = shared.strip_prefix(SHARED).and_then(|key| key.split_once('-'));
    match key {
        Some((name, _)) => name,
        None => parameter.get("name").and_then(Value::as_str).unwrap_or_default(),
    }
}

/// Removes the parameters that all operations of a path have, and returns them: they are parameters of the path.
pub(super) fn take_common(operations: &mut [Vec<Value>]) -> Vec<Value> {
    let Some(first) = operations.first() else {
        return Vec::new();
    };
    let has = |operation: &[Value], wanted: &str| operation.iter().any(|parameter| name(parameter) == wanted);
    let is_common = |parameter: &&Value| {
        let wanted = name(parameter);
        // Bodies are different although they have one name.
        wanted != "body" && operations.iter().all(|operation| has(operation, wanted))
    };
    let common: Vec<Value> = first.iter().filter(is_common).cloned().collect();
    for operation in operations {
        operation.retain(|parameter| !has(&common, name(parameter)));
    }
    common
}

/// Returns the parameter of namespaces.
pub(super) fn namespace(dialect: Dialect<'_>) -> Value {
    match dialect {
        Dialect::V2 => json!({"$ref": format!("{SHARED}{NAMESPACE}")}),
        Dialect::V3 { .. } => {
            let mut parameter = described_namespace();
            parameter["schema"] = json!({"type": "string", "uniqueItems": true});
            parameter
        }
    }
}

/// Returns the parameters to which those of paths of custom kinds refer and those of definitions do not.
pub(super) fn shared() -> Value {
    let mut parameter = described_namespace();
    (parameter["type"], parameter["uniqueItems"]) = (json!("string"), json!(true));
    json!({NAMESPACE: parameter})
}

fn described_namespace() -> Value {
    json!({
        "name": "namespace", "in": "path", "required": true,
        "description": "Namespace of the objects.",
    })
}
