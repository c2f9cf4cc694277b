//! Patterns that texts must match.

use std::sync::{Arc, OnceLock};

use regex::Regex;

use crate::go_pattern;

/// A pattern, read when a text is matched with it for the first time.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<str>,
    read: OnceLock<Result<Arc<Regex>, String>>,
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

    /// Whether `text`, or a part of it, matches.
    ///
    /// # Errors
    ///
    /// When the pattern is none; with what is wrong with it.
    pub fn matches(&self, text: &str) -> Result<bool, &str> {
        match self.read.get_or_init(|| go_pattern::compile(&self.text)) {
            Ok(pattern) => Ok(pattern.is_match(text)),
            Err(problem) => Err(problem),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
