//! Writes a tree as block YAML, laid out as go-yaml does.

use std::borrow::Cow;

use serde_json::Value;

use super::key_order;
use super::style::{Style, is_printable, of_text};
use crate::go_format;

/// Lines are folded at the first space behind this column.
const WIDTH: usize = 80;

/// Keys longer than this need a question mark in front.
pub(super) const LONGEST_SIMPLE_KEY: usize = 128;

/// The tree as a document with a final newline.
pub(super) fn write(tree: &Value) -> String {
    let mut writer = Writer {
        out: String::new(),
        column: 0,
    };
    match tree {
        Value::Object(entries) if !entries.is_empty() => writer.mapping(entries, 0, true),
        Value::Array(elements) if !elements.is_empty() => writer.sequence(elements, 0, true),
        other => writer.leaf(other, 2),
    }
    if writer.column > 0 {
        writer.new_line();
    }
    writer.out
}

/// The tree as an item of a list at the left margin, with a final newline.
pub(super) fn write_item(tree: &Value) -> String {
    let mut writer = Writer {
        out: String::new(),
        column: 0,
    };
    writer.sequence(std::slice::from_ref(tree), 0, true);
    if writer.column > 0 {
        writer.new_line();
    }
    writer.out
}

struct Writer {
    out: String,
    /// Characters since the last line break.
    column: usize,
}

impl Writer {
    /// Entries at column `indent`; `in_place` when the first one goes on in the current line.
    fn mapping(&mut self, entries: &serde_json::Map<String, Value>, indent: usize, in_place: bool) {
        let mut sorted: Vec<(&str, &Value)> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
        key_order::sort(&mut sorted);
        for (index, (key, value)) in sorted.into_iter().enumerate() {
            if index > 0 || !in_place {
                self.start_line(indent);
            }
            let simple = key.len() <= LONGEST_SIMPLE_KEY && !key.contains('\n');
            if simple {
                self.text(key, indent + 2, true);
            } else {
                self.put("? ");
                self.text(key, indent + 2, false);
                self.start_line(indent);
            }
            self.put(":");
            match value {
                Value::Object(entries) if !entries.is_empty() => {
                    if simple {
                        self.mapping(entries, indent + 2, false);
                    } else {
                        self.put(" ");
                        self.mapping(entries, indent + 2, true);
                    }
                }
                // Items of a list stand under their key, not further in.
                Value::Array(elements) if !elements.is_empty() && simple => self.sequence(elements, indent, false),
                Value::Array(elements) if !elements.is_empty() => {
                    self.put(" ");
                    self.sequence(elements, indent + 2, true);
                }
                other => {
                    self.put(" ");
                    self.leaf(other, indent + 2);
                }
            }
        }
    }

    /// Items whose dash is at column `indent`.
    fn sequence(&mut self, elements: &[Value], indent: usize, in_place: bool) {
        for (index, element) in elements.iter().enumerate() {
            if index > 0 || !in_place {
                self.start_line(indent);
            }
            self.put("- ");
            match element {
                Value::Object(entries) if !entries.is_empty() => self.mapping(entries, indent + 2, true),
                Value::Array(elements) if !elements.is_empty() => self.sequence(elements, indent + 2, true),
                other => self.leaf(other, indent + 2),
            }
        }
    }

    /// A value in place; `indent` is the column at which further lines of it start.
    fn leaf(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.put("null"),
            Value::Bool(value) => self.put(if *value { "true" } else { "false" }),
            Value::Array(_) => self.put("[]"),
            Value::Object(_) => self.put("{}"),
            Value::String(text) => self.text(text, indent, false),
            Value::Number(number) => match (number.is_f64(), number.as_f64()) {
                (true, Some(value)) => self.put(&short_float(value)),
                _ => self.put(&number.to_string()),
            },
        }
    }

    fn text(&mut self, text: &str, indent: usize, key: bool) {
        let fold = (!key).then_some(indent);
        match of_text(text, key) {
            Style::Plain => self.flowing(text, fold, false),
            Style::Single => {
                self.put("'");
                self.flowing(text, fold, true);
                self.put("'");
            }
            Style::Double => self.double_quoted(text, fold),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Text without line breaks; in single quotes a quote is doubled.
    fn flowing(&mut self, text: &str, fold: Option<usize>, quoted: bool) {
        let mut spaces = false;
        let mut rest = text.chars().peekable();
        let mut first = true;
        while let Some(c) = rest.next() {
            let next = rest.peek().copied();
            if c == ' ' {
                let inside = !quoted || !first && next.is_some();
                match fold {
                    Some(indent) if inside && !spaces && self.column > WIDTH && next != Some(' ') => {
                        self.start_line(indent);
                    }
                    _ => self.put_char(c),
                }
                spaces = true;
            } else {
                if quoted && c == '\'' {
                    self.put_char(c);
                }
                self.put_char(c);
                spaces = false;
            }
            first = false;
        }
    }

    fn double_quoted(&mut self, text: &str, fold: Option<usize>) {
        self.put("\"");
        let mut spaces = false;
        let mut rest = text.chars().peekable();
        let mut first = true;
        while let Some(c) = rest.next() {
            let next = rest.peek().copied();
            if is_escaped(c) {
                self.put(&escaped(c));
                spaces = false;
            } else if c == ' ' {
                match fold {
                    Some(indent) if !first && next.is_some() && !spaces && self.column > WIDTH => {
                        self.start_line(indent);
                        if next == Some(' ') {
                            self.put("\\");
                        }
                    }
                    _ => self.put_char(c),
                }
                spaces = true;
            } else {
                self.put_char(c);
                spaces = false;
            }
            first = false;
        }
        self.put("\"");
    }

    /// Text with line breaks, line by line.
    fn literal(&mut self, text: &str, indent: usize) {
        self.put("|");
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        if !text.ends_with('\n') {
            self.put("-");
        } else if text == "\n" || text.ends_with("\n\n") {
            self.put("+");
        }
        self.new_line();
        for line in text.split_inclusive('\n') {
            let content = line.strip_suffix('\n').unwrap_or(line);
            if !content.is_empty() {
                self.put(&" ".repeat(indent));
                self.put(content);
            }
            if content.len() < line.len() {
                self.new_line();
            }
        }
    }

    /// Goes to column `indent` of a new line.
    fn start_line(&mut self, indent: usize) {
        if self.column > 0 {
            self.new_line();
        }
        self.put(&" ".repeat(indent));
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
        self.column += text.chars().count();
    }

    fn put_char(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }
}

/// Appends `text` in double quotes without these.
pub(super) fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match is_escaped(c) {
            true => out.push_str(&escaped(c)),
            false => out.push(c),
        }
    }
}

/// True if the character is escaped in double quotes.
fn is_escaped(c: char) -> bool {
    !is_printable(c) || matches!(c, '"' | '\\' | '\n' | '\u{2028}' | '\u{2029}')
}

fn escaped(c: char) -> Cow<'static, str> {
    let short = match c {
        '\0' => "\\0",
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\u{b}' => "\\v",
        '\u{c}' => "\\f",
        '\r' => "\\r",
        '\u{1b}' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{a0}' => "\\_",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        _ => "",
    };
    if !short.is_empty() {
        return Cow::Borrowed(short);
    }
    Cow::Owned(match u32::from(c) {
        code @ ..=0xFF => format!("\\x{code:02X}"),
        code @ ..=0xFFFF => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    })
}

/// The text of a number: Go's, but for what is no number or has no end.
pub(super) fn short_float(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    go_format::float(value)
}
