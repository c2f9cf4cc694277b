//! The comparison of two JSON trees for lost values.

use serde_json::Value;

/// Checks that `whole` contains everything in `part`. Lists may be in another order, and empty values may be missing.
///
/// # Errors
///
/// The path of the first missing value.
pub(super) fn find(part: &Value, whole: &Value) -> Result<(), String> {
    search(part, whole, &mut String::new())
}

fn search(part: &Value, whole: &Value, path: &mut String) -> Result<(), String> {
    let missing = |path: &str| Err(format!("{}: {part}", path.trim_start_matches('.')));
    match (part, whole) {
        (part, Value::Null) if is_empty(part) => Ok(()),
        (Value::Object(part), Value::Object(whole)) => {
            for (key, value) in part {
                let length = path.len();
                path.push('.');
                path.push_str(key);
                search(value, whole.get(key).unwrap_or(&Value::Null), path)?;
                path.truncate(length);
            }
            Ok(())
        }
        (Value::Array(part), Value::Array(whole)) => {
            let mut taken: Vec<Option<&Value>> = vec![None; whole.len()];
            for (index, value) in part.iter().enumerate() {
                if !place(value, whole, &mut taken, &mut vec![false; whole.len()]) {
                    return Err(format!("{path}[{index}]: {value}").trim_start_matches('.').to_owned());
                }
            }
            Ok(())
        }
        _ if part == whole => Ok(()),
        _ => missing(path),
    }
}

/// Assigns `value` to an element of `whole` that contains it, and reassigns earlier values if necessary: a small value
/// is contained in several elements. Returns false if there is no assignment.
fn place<'v>(value: &'v Value, whole: &[Value], taken: &mut [Option<&'v Value>], tried: &mut [bool]) -> bool {
    for (index, other) in whole.iter().enumerate() {
        if tried[index] || search(value, other, &mut String::new()).is_err() {
            continue;
        }
        tried[index] = true;
        if taken[index].is_none_or(|placed| place(placed, whole, taken, tried)) {
            taken[index] = Some(value);
            return true;
        }
    }
    false
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(entries) => entries.values().all(is_empty),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::find;

    #[test]
    fn order_and_emptiness_do_not_count_but_values_do() {
        let whole = json!({"a": [{"b": 1}, {"c": "x", "d": 2}], "e": "text"});
        for part in [
            json!({}),
            json!({"a": [{"d": 2}, {"b": 1}]}),
            json!({"f": {"g": ""}, "h": [], "i": 0}),
            json!({"a": [{"c": "x", "d": 2}, {}]}),
            json!({"a": [{}, {"b": 1}]}),
        ] {
            assert_eq!(find(&part, &whole), Ok(()));
        }
        for (part, path) in [
            (json!({"e": "other"}), "e: \"other\""),
            (json!({"a": [{"b": 1}, {"b": 1}]}), "a[1]: {\"b\":1}"),
            (json!({"f": {"g": true}}), "f: {\"g\":true}"),
        ] {
            assert_eq!(find(&part, &whole), Err(path.to_owned()));
        }
    }
}
