//! The annotation in which kubectl keeps what it applied before the server could: fields named there become kubectl's
//! when it applies through the server, and the annotation stays up to date so that it can go back.

use std::collections::BTreeSet;

use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use serde_json::Value;

use crate::documents::{Difference, Schema, owned};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The most bytes that an annotation may have; a longer text is not kept.
const LIMIT: usize = 256 * 1024;

/// True if the manager is kubectl's default one.
pub(super) fn is_kubectl(manager: &str) -> bool {
    manager == "kubectl"
}

/// The configuration that kubectl applied last.
pub(super) fn of(live: &dyn Object) -> Option<&String> {
    let text = live.meta().annotations.get(ANNOTATION)?;
    (!text.is_empty()).then_some(text)
}

/// The fields that kubectl applied and that still are what it applied, as conflicts name them.
pub(super) fn matching(live: &dyn Object, document: &Value, schema: Schema<'_>) -> Option<BTreeSet<String>> {
    let last: Value = serde_json::from_str(of(live)?).ok()?;
    let mut fields = owned(&last, schema);
    let difference = Difference::new(&last, document, schema);
    for changed in [&difference.modified, &difference.added, &difference.removed] {
        fields.remove(changed);
    }
    let mut names = BTreeSet::new();
    fields.each(&mut |path| {
        names.insert(path.iter().map(ToString::to_string).collect());
    });
    Some(names)
}

/// Keeps what kubectl applies now in the new document.
pub(super) fn write(document: &mut Value, applied: &Value) {
    let mut applied = applied.clone();
    if let Some(Value::Object(metadata)) = applied.get_mut("metadata") {
        metadata.remove("managedFields");
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
            annotations.remove(ANNOTATION);
        }
    }
    let mut text = Vec::with_capacity(512);
    json::encode_value(&applied, &mut text);
    text.push(b'\n');
    let Some(Value::Object(metadata)) = document.get_mut("metadata") else {
        return;
    };
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if annotations.is_null() {
        *annotations = Value::Object(serde_json::Map::new());
    }
    let Value::Object(annotations) = annotations else {
        return;
    };
    match String::from_utf8(text) {
        Ok(text) if text.len() + ANNOTATION.len() <= LIMIT => {
            annotations.insert(ANNOTATION.to_owned(), Value::String(text));
        }
        _ => {
            annotations.remove(ANNOTATION);
        }
    }
}
