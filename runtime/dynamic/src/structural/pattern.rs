//! Patterns that texts must match.

use std::sync::OnceLock;

use planesmith_wire::go_pattern::{self, SharedPattern};

/// A pattern, read when a text is matched with it for the first time.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<str>,
    read: OnceLock<Result<SharedPattern, String>>,
}

impl Pattern {
    /// The pattern that is written `text`, in Go's notation.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self {
            text: text.into(),
            read: OnceLock::new(),
        }
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if `text`, or a part of it, matches.
    ///
    /// # Errors
    ///
    /// The reason that the text is not a valid pattern.
    pub fn matches(&self, text: &str) -> Result<bool, &str> {
        match self.read() {
            Ok(pattern) => Ok(pattern.regex.is_match(text)),
            Err(problem) => Err(problem),
        }
    }

    /// Steps of matching a text of `length` bytes at most; see [`go_pattern::Pattern::steps`].
    #[must_use]
    pub fn steps(&self, length: usize) -> u64 {
        self.read().as_ref().map_or(0, |pattern| pattern.steps(length))
    }

    /// Memory of the pattern in bytes, which its steps follow from; 0 when it is none.
    #[must_use]
    pub fn size(&self) -> usize {
        self.read().as_ref().map_or(0, |pattern| pattern.size)
    }

    fn read(&self) -> &Result<SharedPattern, String> {
        self.read.get_or_init(|| go_pattern::compile(&self.text))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
