//! References in OpenAPI documents.

use serde_json::Value;

/// Returns the targets of all references in a part of a document, such as `#/components/schemas/NAME`.
#[must_use]
pub fn references(part: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![part];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                open.extend(members.values());
            }
            Value::Array(elements) => open.extend(elements),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}
