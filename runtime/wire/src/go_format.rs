//! Values as Go's `fmt` and `strconv` print them, because messages of kube-apiserver are part of the protocol.

use std::collections::HashSet;
use std::fmt::Write;

use crate::sorting::sort_by;

/// Quotes text as Go's `%q` does.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends `text`, quoted as Go's `%q` does.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    // Most texts are plain: their runs are copied.
    while let Some(length) = rest.bytes().position(|byte| !is_plain(byte)) {
        let (plain, special) = rest.split_at(length);
        out.push_str(plain);
        let mut special = special.chars();
        if let Some(c) = special.next() {
            push_escaped(out, c);
        }
        rest = special.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// True for an ASCII character that is quoted as it is.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if is_printable(c) => out.push(c),
        c => {
            let code = u32::from(c);
            // Writing to a String cannot fail.
            let _ = match code {
                0..0x80 => write!(out, "\\x{code:02x}"),
                0x80..0x1_0000 => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

/// True if Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the ASCII space.
#[must_use]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return c == ' ' || c.is_ascii_graphic();
    }
    // Behind another character the standard library escapes only what it holds unprintable, and no combining marks.
    let pair: String = ['a', c].iter().collect();
    pair.escape_debug().nth(1) == Some(c)
}

/// A floating point number as Go's `%v` prints it: the fewest digits, with an exponent below 1e-4 and from 1e6 on.
#[must_use]
pub fn float(number: f64) -> String {
    let size = number.abs();
    if !number.is_finite() || size == 0.0 || (1e-4..1e6).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// A list of texts as Go's `%v` prints a slice: `[a b]`.
pub fn slice<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(" "))
}

/// The message of several errors, as Go's aggregates have it: without duplicates, and in brackets if more than one remains.
#[must_use]
pub fn aggregate<T: AsRef<str>>(errors: &[T]) -> String {
    let mut seen = HashSet::with_capacity(errors.len());
    let distinct: Vec<&str> = errors
        .iter()
        .map(AsRef::as_ref)
        .filter(|error| seen.insert(*error))
        .collect();
    match distinct[..] {
        [] => String::new(),
        [only] => only.to_owned(),
        _ => format!("[{}]", distinct.join(", ")),
    }
}

/// The Go type that holds a JSON value in a document of no known type, e.g. `map[string]interface {}`.
#[must_use]
pub fn type_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// A JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`, text as it is, nothing as `<nil>`.
#[must_use]
pub fn value(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Null => "<nil>".to_owned(),
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(elements) => slice(&elements.iter().map(self::value).collect::<Vec<_>>()),
        serde_json::Value::Object(entries) => map(entries),
        serde_json::Value::Number(number) => self::number(number),
        serde_json::Value::Bool(value) => value.to_string(),
    }
}

/// A JSON number as Go's `%v` prints it.
fn number(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(double) if number.is_f64() => float(double),
        _ => number.to_string(),
    }
}

/// A JSON value as Go's `%#v` prints it, in maps with keys of the type `key`.
#[must_use]
pub fn syntax(value: &serde_json::Value, key: &str) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => self::number(number),
        Value::String(text) => quote(text),
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| syntax(element, key)).collect();
            format!("[]interface {{}}{{{}}}", elements.join(", "))
        }
        Value::Object(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|(name, value)| format!("{}:{}", quote(name), syntax(value, key)));
            let entries: Vec<String> = entries.collect();
            format!("map[{key}]interface {{}}{{{}}}", entries.join(", "))
        }
    }
}

/// A JSON object as Go's `%v` prints it, with sorted keys.
#[must_use]
pub fn map(entries: &serde_json::Map<String, serde_json::Value>) -> String {
    let mut entries: Vec<(&String, &serde_json::Value)> = entries.iter().collect();
    sort_by(&mut entries, |left, right| left.0.cmp(right.0));
    let entries: Vec<String> = entries
        .into_iter()
        .map(|(key, value)| format!("{key}:{}", self::value(value)))
        .collect();
    format!("map[{}]", entries.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_joined_as_go_does() {
        assert_eq!(aggregate::<&str>(&[]), "");
        assert_eq!(aggregate(&["a", "a"]), "a");
        assert_eq!(aggregate(&["b", "a", "b"]), "[b, a]");
    }

    #[test]
    fn floating_point_numbers_are_written_as_go_does() {
        let cases = [
            (0.75, "0.75"),
            (-3.0, "-3"),
            (123_456.5, "123456.5"),
            (1_234_567.5, "1.2345675e+06"),
            (1e20, "1e+20"),
            (1.5e-5, "1.5e-05"),
            (0.0, "0"),
        ];
        for (number, expected) in cases {
            assert_eq!(float(number), expected);
        }
    }

    #[test]
    fn text_is_quoted_as_go_does() {
        let cases = [
            ("plain", "\"plain\""),
            ("a\"b\\c", "\"a\\\"b\\\\c\""),
            ("tab\tnewline\nbell\u{7}", "\"tab\\tnewline\\nbell\\a\""),
            ("\u{0}\u{1b}\u{7f}", "\"\\x00\\x1b\\x7f\""),
            ("grün ☃ e\u{301}", "\"grün ☃ e\u{301}\""),
            (
                "\u{a0}\u{200b}\u{e000}\u{10ffff}",
                "\"\\u00a0\\u200b\\ue000\\U0010ffff\"",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(quote(text), expected);
        }
    }
}
