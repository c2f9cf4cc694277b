//! Merging an apply configuration into an object without owners, as mutating admission policies do.

use std::fmt::Write as _;

use planesmith_machinery::object::Object;
use serde_json::Value;

use crate::documents::{Parts, Schema, check, check_live, merge};

/// Returns `live`, the document of `object`, with the fields of `configuration`. Nothing is removed, and no manager owns the
/// fields.
///
/// # Errors
///
/// The configuration does not match the kind, or sets a list or map that is atomic, which would replace what the object has in
/// it.
pub fn apply_configuration(object: &dyn Object, live: &Value, configuration: &Value) -> Result<Value, String> {
    let schema = Schema::from_object(object);
    if let Some(why) = check(configuration, schema) {
        return Err(format!("failed to convert patch object to typed object: {why}"));
    }
    let mut atomics = Vec::new();
    find_atomics(configuration, schema, &mut String::new(), &mut atomics);
    if !atomics.is_empty() {
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {}",
            atomics.join(", ")
        ));
    }
    if let Some(why) = check_live(live, schema) {
        return Err(format!("failed to convert original object to typed object: {why}"));
    }
    Ok(merge(live, configuration, schema))
}

/// Collects the paths of atomic lists and objects.
fn find_atomics(value: &Value, schema: Schema<'_>, path: &mut String, atomics: &mut Vec<String>) {
    let length = path.len();
    match value {
        Value::Object(entries) => {
            if schema.is_whole() {
                atomics.push(path.clone());
            }
            for (name, value) in entries {
                let entry = schema.entry(name);
                if entry.is_field() {
                    path.push('.');
                    path.push_str(name);
                    find_atomics(value, entry.schema(), path, atomics);
                    path.truncate(length);
                }
            }
        }
        Value::Array(elements) => {
            if schema.parts(value) == Parts::None {
                atomics.push(path.clone());
            }
            for (index, element) in elements.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = write!(path, "[{index}]");
                find_atomics(element, schema.element(), path, atomics);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
