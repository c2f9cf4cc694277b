//! Renders JSON values as YAML blocks.

use serde_json::Value;

/// Returns the document as YAML.
pub(super) fn render(document: &Value) -> String {
    let mut text = String::new();
    write_block(&mut text, document, 0);
    text
}

/// Writes the lines of a map or list; the cursor is at the indented start of the first line.
fn write_block(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(members) => {
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    push_indent(text, indent);
                }
                text.push_str(&scalar(key));
                text.push(':');
                write_after_key(text, value, indent);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    push_indent(text, indent);
                }
                text.push_str("- ");
                match is_block(item) {
                    true => write_block(text, item, indent + 2),
                    false => push_line(text, &inline(item)),
                }
            }
        }
        other => push_line(text, &inline(other)),
    }
}

fn write_after_key(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            text.push('\n');
            push_indent(text, indent + 2);
            write_block(text, value, indent + 2);
        }
        // Lists are not indented below their key.
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            push_indent(text, indent);
            write_block(text, value, indent);
        }
        other => push_line(text, &format!(" {}", inline(other))),
    }
}

fn is_block(value: &Value) -> bool {
    match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    }
}

/// Returns a value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        // Numbers, booleans, and empty maps and lists have the same form in JSON.
        other => other.to_string(),
    }
}

/// Returns a string, quoted if YAML would otherwise parse it as another type.
fn scalar(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ./_-,;()+*%".contains(c) || !c.is_ascii();
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '.' || c == '/');
    let words = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let is_word = words.contains(&text.to_ascii_lowercase().as_str());
    if starts_plain && text.chars().all(plain) && !text.ends_with(' ') && !is_word && text != "." {
        text.to_owned()
    } else {
        // JSON strings are valid YAML.
        Value::from(text).to_string()
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_indent(text: &mut String, indent: usize) {
    text.extend(std::iter::repeat_n(' ', indent));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn values_become_blocks_and_odd_text_is_quoted() {
        let document = json!({
            "a": {"list": [{"x": 1, "y": [true]}, "plain text", []], "empty": {}},
            "b": ["no", "1.5", "with: colon", "", "^[a-z]+$"],
        });
        let expected = "a:\n  empty: {}\n  list:\n  - x: 1\n    \"y\":\n    - true\n  - plain text\n  - []\nb:\n- \"no\"\n\
                        - \"1.5\"\n- \"with: colon\"\n- \"\"\n- \"^[a-z]+$\"\n";
        assert_eq!(super::render(&document), expected);
    }
}
