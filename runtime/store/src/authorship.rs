//! The author of the states of each collection: this program, which is recorded for the next start.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Collection;
use crate::log::{Author, Log};

/// Minimum number of states whose author is stored. Fewer are decoded in a moment.
pub(crate) const WORTH: usize = 10_000;

/// Stores the authors of collections once these are large.
pub(crate) struct Authorship {
    log: Arc<dyn Log>,
    /// Collections that were small so far, and the author of their states.
    small: Mutex<Vec<(Weak<Collection>, Author)>>,
}

impl Authorship {
    pub(crate) fn new(log: Arc<dyn Log>) -> Self {
        let small = Mutex::default();
        Self { log, small }
    }

    /// Makes `author` that of `collection`, which was loaded with `states` states: of those after a revision, and of all that are
    /// written from now on.
    pub(crate) fn begin(&self, collection: &Arc<Collection>, author: Author, states: usize) {
        match states >= WORTH {
            true => self.store(collection, author),
            false => self.lock().push((Arc::downgrade(collection), author)),
        }
    }

    /// Stores the authors of the collections that have become large.
    pub(crate) fn store_large(&self) {
        let mut large = Vec::new();
        self.lock().retain(|(collection, author)| {
            let Some(collection) = collection.upgrade() else {
                return false;
            };
            let is_small = collection.stats().entries < WORTH;
            if !is_small {
                large.push((collection, *author));
            }
            is_small
        });
        for (collection, author) in large {
            // Another definition of the kind is another author.
            if collection.indexer().fingerprint() == Some(author.program) {
                self.store(&collection, author);
            }
        }
    }

    fn store(&self, collection: &Collection, author: Author) {
        let prefix = collection.prefix();
        if let Err(error) = self.log.set_author(prefix, author) {
            tracing::warn!(%error, prefix, "the next start will decode all objects");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Weak<Collection>, Author)>> {
        // A panic cannot interrupt a change half way.
        self.small.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
