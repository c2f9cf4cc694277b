//! Warnings for the client.

use std::sync::Arc;
use std::sync::Mutex;

/// Warnings collected while a request is handled; each becomes a `Warning: 299 - "..."` header of the answer.
///
/// Clones share one list. A text is stored once, however often it is added.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    // Locked only to push or to take; after a panic it is still a valid list of texts.
    texts: Arc<Mutex<Vec<String>>>,
}

impl Warnings {
    /// Adds a text, unless it is empty or already there.
    pub fn add(&self, text: impl Into<String>) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        let mut texts = self.texts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }

    /// Takes everything collected so far, oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.texts.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}
