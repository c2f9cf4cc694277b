//! What strict decoding noticed.

use std::fmt;

use super::path::Path;
use crate::go_format::quote;

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
