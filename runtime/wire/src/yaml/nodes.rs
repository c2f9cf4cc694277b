//! The YAML that go-yaml 3 writes for nodes without a style of their own.

use serde_json::{Map, Value};

use super::style::{Style, of_node};
use super::writer::{LONGEST_SIMPLE_KEY, escape};

/// The characters that go-yaml takes for line breaks.
const LINE_BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// Columns of a level.
const STEP: usize = 4;

/// Appends the tree as a document with a final newline.
pub(super) fn write(tree: &Value, out: &mut String) {
    let line_start = out.len();
    let mut writer = Writer { out, line_start };
    match tree {
        Value::Object(entries) if !entries.is_empty() => writer.mapping(entries, 0, true),
        Value::Array(elements) if !elements.is_empty() => writer.sequence(elements, 0, true),
        other => writer.leaf(other, STEP),
    }
    writer.end_line();
}

struct Writer<'o> {
    out: &'o mut String,
    /// Offset of the current line.
    line_start: usize,
}

impl Writer<'_> {
    /// Entries at column `indent`; `in_place` if nothing but indicators precedes the first one in its line.
    fn mapping(&mut self, entries: &Map<String, Value>, indent: usize, in_place: bool) {
        let below = next_level(indent);
        for (index, (key, value)) in entries.iter().enumerate() {
            self.start(indent, index == 0 && in_place);
            let is_simple = key.len() <= LONGEST_SIMPLE_KEY && !key.contains(LINE_BREAKS);
            if is_simple {
                self.text(key, below);
            } else {
                self.out.push_str("? ");
                self.text(key, below);
                self.start(indent, false);
            }
            self.out.push(':');
            match value {
                Value::Object(entries) if !entries.is_empty() => self.mapping(entries, below, !is_simple),
                Value::Array(elements) if !elements.is_empty() => self.sequence(elements, below, !is_simple),
                other => {
                    self.out.push(' ');
                    self.leaf(other, below);
                }
            }
        }
    }

    /// Elements whose dash is at column `indent`.
    fn sequence(&mut self, elements: &[Value], indent: usize, in_place: bool) {
        for (index, element) in elements.iter().enumerate() {
            self.start(indent, index == 0 && in_place);
            self.out.push('-');
            let below = indent + 2;
            match element {
                Value::Object(entries) if !entries.is_empty() => self.mapping(entries, below, true),
                Value::Array(elements) if !elements.is_empty() => self.sequence(elements, below, true),
                other => {
                    self.out.push(' ');
                    self.leaf(other, below);
                }
            }
        }
    }

    /// A value in place, whose further lines begin at column `indent`.
    fn leaf(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Null => self.out.push_str("null"),
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Array(_) => self.out.push_str("[]"),
            Value::Object(_) => self.out.push_str("{}"),
            Value::Number(number) => self.out.push_str(&number.to_string()),
            Value::String(text) => self.text(text, indent),
        }
    }

    fn text(&mut self, text: &str, indent: usize) {
        match of_node(text) {
            Style::Plain => self.out.push_str(text),
            Style::Single => {
                self.out.push('\'');
                self.out.push_str(&text.replace('\'', "''"));
                self.out.push('\'');
            }
            Style::Double => {
                self.out.push('"');
                escape(text, self.out);
                self.out.push('"');
            }
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Text with line breaks, line by line.
    fn literal(&mut self, text: &str, indent: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('4');
        }
        if !text.ends_with('\n') {
            self.out.push('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.out.push('+');
        }
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.new_line();
            if !line.is_empty() {
                self.pad(indent);
                self.out.push_str(line);
            }
        }
        if text.ends_with('\n') {
            self.new_line();
        }
    }

    /// Goes to column `indent`: of this line if `in_place`, otherwise of a new one.
    fn start(&mut self, indent: usize, in_place: bool) {
        if !in_place {
            self.end_line();
        }
        self.pad(indent);
    }

    fn pad(&mut self, indent: usize) {
        let column = self.out.len() - self.line_start;
        self.out.extend(std::iter::repeat_n(' ', indent.saturating_sub(column)));
    }

    fn end_line(&mut self) {
        if self.out.len() > self.line_start {
            self.new_line();
        }
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.line_start = self.out.len();
    }
}

/// The column of the level below a key at column `indent`: the next multiple of the step.
const fn next_level(indent: usize) -> usize {
    (indent + STEP) / STEP * STEP
}
