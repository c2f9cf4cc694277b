//! The findings of strict decoding.

use std::fmt;

use crate::go_format::quote;

/// More of them are dropped, so that a hostile document cannot make an answer of any size.
const LIMIT: usize = 100;
/// Bytes of messages after which further ones are dropped: a name may be as long as the document.
const MAX_SIZE: usize = 1 << 20;

/// Unknown and duplicate fields, in the order in which they were met, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    messages: Vec<String>,
    /// The number of them, at the start, that come from the YAML text.
    yaml: usize,
    /// Bytes of the others.
    size: usize,
}

impl Findings {
    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Each as its own message, e.g. `unknown field "spec.foo"`: the text of a warning.
    #[must_use]
    pub fn messages(&self) -> &[String] {
        &self.messages
    }

    /// Adds the keys that stand twice in the YAML text which this JSON came from.
    pub fn add_yaml(&mut self, duplicates: Vec<String>) {
        self.yaml += duplicates.len();
        self.messages.splice(0..0, duplicates);
    }

    /// Adds the findings of another reader.
    pub fn add_all(&mut self, messages: impl IntoIterator<Item = String>) {
        for message in messages {
            self.push(message);
        }
    }

    /// The same in the order of their texts.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.messages[self.yaml..].sort_unstable();
        self
    }

    /// Adds a field `name` of the value at `parent` that the type does not have.
    pub fn unknown(&mut self, parent: &dyn fmt::Display, name: &str) {
        self.add("unknown field", parent, name);
    }

    /// Adds a field `name` of the value at `parent` that was read before.
    pub fn duplicate(&mut self, parent: &dyn fmt::Display, name: &str) {
        self.add("duplicate field", parent, name);
    }

    fn add(&mut self, what: &str, parent: &dyn fmt::Display, name: &str) {
        if self.is_full() {
            return;
        }
        let mut path = parent.to_string();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        self.push(format!("{what} {}", quote(&path)));
    }

    fn is_full(&self) -> bool {
        self.messages.len() - self.yaml >= LIMIT || self.size > MAX_SIZE
    }

    fn push(&mut self, message: String) {
        if !self.is_full() && !self.messages.contains(&message) {
            self.size += message.len();
            self.messages.push(message);
        }
    }
}

/// All messages as behind `strict decoding error: `, those from YAML as the one error that they are for Go.
impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (yaml, fields) = self.messages.split_at(self.yaml);
        if !yaml.is_empty() {
            write!(formatter, "yaml: unmarshal errors:\n  {}", yaml.join("\n  "))?;
        }
        let separator = if yaml.is_empty() || fields.is_empty() { "" } else { ", " };
        write!(formatter, "{separator}{}", fields.join(", "))
    }
}
