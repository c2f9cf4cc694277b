//! What strict decoding noticed.

use std::fmt;

use super::path::Path;

/// More of them are dropped, so that a hostile document cannot make an answer of any size.
const LIMIT: usize = 100;

/// Unknown and duplicate fields, in the order in which they were met, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    messages: Vec<String>,
}

impl Findings {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Each as its own message, e.g. `unknown field "spec.foo"`.
    #[must_use]
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Adds a message in front of the others.
    pub fn prepend(&mut self, message: String) {
        self.messages.insert(0, message);
    }

    pub(crate) fn unknown(&mut self, parent: &Path<'_>, name: &str) {
        self.add("unknown field", parent, name);
    }

    pub(crate) fn duplicate(&mut self, parent: &Path<'_>, name: &str) {
        self.add("duplicate field", parent, name);
    }

    fn add(&mut self, what: &str, parent: &Path<'_>, name: &str) {
        if self.messages.len() >= LIMIT {
            return;
        }
        let mut path = parent.with_indexes();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        let message = format!("{what} {}", quote(&path));
        if !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }
}

/// All messages in one line, as in `strict decoding error: ...`.
impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.messages.join(", "))
    }
}

/// `text` in double quotes as Go's `%q` shows it.
pub(crate) fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            control @ ('\0'..='\x1f' | '\x7f') => out.push_str(&format!("\\x{:02x}", u32::from(control))),
            odd @ ('\u{80}'..='\u{a0}' | '\u{ad}' | '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(odd)));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
