//! Values at dotted paths of documents, with the errors of Go's accessors.

use serde_json::Value;

use planesmith_wire::go_format;

/// The whole number at a dotted path of a document; `None` when the path leads nowhere.
///
/// # Errors
///
/// When another value is there, or a value on the way that is no object.
pub fn nested_integer(document: &Value, path: &str) -> Result<Option<i64>, String> {
    match nested(document, path)? {
        None => Ok(None),
        Some(value) => match value.as_i64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong_type(path, value, "int64")),
        },
    }
}

/// The text at a dotted path of a document; `None` when the path leads nowhere.
///
/// # Errors
///
/// As [`nested_integer`].
pub fn nested_text<'d>(document: &'d Value, path: &str) -> Result<Option<&'d str>, String> {
    match nested(document, path)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(value) => Err(wrong_type(path, value, "string")),
    }
}

/// Sets the value at a dotted path of a document, and makes the objects on the way.
///
/// # Errors
///
/// When a value on the way is no object.
pub fn set_nested(document: &mut Value, path: &str, new: Value) -> Result<(), String> {
    let mut place = document;
    let mut end = 0;
    for name in path.split('.') {
        let Value::Object(entries) = place else {
            let shown = path.get(..end).unwrap_or(path);
            return Err(format!(
                "value cannot be set because .{shown} is not a map[string]interface{{}}"
            ));
        };
        end += name.len() + usize::from(end > 0);
        let is_last = end == path.len();
        let made = || {
            if is_last {
                Value::Null
            } else {
                Value::Object(serde_json::Map::new())
            }
        };
        place = entries.entry(name).or_insert_with(made);
    }
    *place = new;
    Ok(())
}

fn nested<'d>(document: &'d Value, path: &str) -> Result<Option<&'d Value>, String> {
    let mut value = document;
    let mut end = 0;
    for name in path.split('.') {
        end += name.len() + usize::from(end > 0);
        match value {
            Value::Object(entries) => match entries.get(name) {
                None => return Ok(None),
                Some(inner) => value = inner,
            },
            Value::Null => return Ok(None),
            _ => {
                let shown = path.get(..end).unwrap_or(path);
                return Err(wrong_type(shown, value, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(value))
}

fn wrong_type(path: &str, value: &Value, expected: &str) -> String {
    let actual = go_format::type_of(value);
    let shown = go_format::value(value);
    format!(".{path} accessor error: {shown} is of the type {actual}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_and_set_or_the_path_is_reported() {
        let mut document = json!({"spec": {"replicas": "many", "size": 2, "none": null}});
        assert_eq!(nested_integer(&document, "spec.size"), Ok(Some(2)));
        assert_eq!(nested_integer(&document, "status.size"), Ok(None));
        assert_eq!(nested_integer(&document, "spec.none.size"), Ok(None));
        assert_eq!(nested_text(&document, "spec.replicas"), Ok(Some("many")));
        let problem = ".spec.replicas accessor error: many is of the type string, expected int64";
        assert_eq!(nested_integer(&document, "spec.replicas"), Err(problem.to_owned()));
        let problem = ".spec.size.x accessor error: 2 is of the type int64, expected map[string]interface{}";
        assert_eq!(nested_text(&document, "spec.size.x"), Err(problem.to_owned()));
        assert_eq!(set_nested(&mut document, "status.size", 3.into()), Ok(()));
        assert_eq!(document["status"], json!({"size": 3}));
        let problem = "value cannot be set because .spec.none is not a map[string]interface{}";
        assert_eq!(
            set_nested(&mut document, "spec.none.size", 3.into()),
            Err(problem.to_owned())
        );
    }
}
