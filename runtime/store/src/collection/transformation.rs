//! Entries of a collection whose values are transformed, while the keys change.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Collection, State};
use crate::values::Values;
use crate::{Entry, Event, TransformError};

impl Collection {
    /// The same collection, whose backend has `values`, and whose states are compared with the key `writer`: that before the first of
    /// them was decoded.
    pub(crate) fn with_values(self, values: Values, writer: u64) -> Self {
        Self {
            writer: AtomicU64::new(writer),
            values,
            ..self
        }
    }

    /// The values in the backend.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The reason that the value of an unreadable `entry` cannot be decrypted; `None` if that is not its problem.
    #[must_use]
    pub fn transform_error(&self, entry: &Entry) -> Option<TransformError> {
        match entry.is_readable() {
            true => None,
            false => self.values.open(entry.key(), &entry.bytes()).err(),
        }
    }

    /// Identifies the key with which states are written that [`Self::compare_with`] gets.
    pub(crate) fn writer(&self) -> u64 {
        self.writer.load(Ordering::Acquire)
    }

    /// Marks `events`, which are published, as stale if the key that writes has changed since `writer` was read: before they were
    /// transformed.
    pub(crate) fn compare_with(&self, writer: u64, events: &[Arc<Event>]) {
        if self.writer() != writer {
            events.iter().for_each(|event| event.entry().mark_stale());
        }
    }

    /// Follows a change of the keys: entries that were written with another one are stale, and those that could not be opened are
    /// opened again. Revisions stay. Takes time in proportion to the number of entries.
    pub(crate) fn transform_again(&self, is_shared: bool) {
        if !self.values.has_transformer() {
            return;
        }
        let writer = self.values.writer();
        let has_changed = self.writer.swap(writer, Ordering::AcqRel) != writer;
        if has_changed {
            // Locked, so that no entry is exchanged for an equal one meanwhile.
            self.read().entries.iter().for_each(|entry| entry.mark_stale());
        }
        let all: Vec<Arc<Entry>> = self.snapshot().entries.iter().map(Arc::clone).collect();
        let unreadable = all.iter().filter(|entry| !entry.is_readable());
        let unreadable: Vec<_> = unreadable.map(Arc::clone).collect();
        if unreadable.is_empty() {
            return;
        }
        {
            let values: Vec<_> = unreadable.iter().map(|entry| entry.bytes()).collect();
            self.values.prepare(&mut values.iter().map(|value| &**value));
        }
        let indexer = self.indexer();
        let reopened = unreadable
            .iter()
            .map(|entry| entry.reopened(&*indexer, &self.values, is_shared));
        let reopened = reopened
            .flatten()
            .map(|entry| (entry.key().to_owned(), Arc::new(entry.compressed(self.compressor()))));
        let mut reopened: HashMap<String, Arc<Entry>> = reopened.collect();
        let mut state = self.write_lock();
        let State { entries, bytes, .. } = &mut *state;
        entries.replace_each(|current| {
            let new = reopened.remove(current.key())?;
            if new.revision() != current.revision() {
                return None;
            }
            *bytes = *bytes + new.size() - current.size();
            Some(new)
        });
    }
}
