//! One change, as watchers receive it.

use std::sync::Arc;

use bytes::Bytes;

use crate::encodings::{EncodingCache, EncodingId};
use crate::{Entry, Revision};

/// The effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The key has a new state.
    Put {
        /// True if the key had none before.
        created: bool,
    },
    /// The key was deleted.
    Delete,
}

/// One change of one key. Shared by the history and all watchers.
#[derive(Debug)]
pub struct Event {
    kind: EventKind,
    /// Of this event alone, so that it has the frames, too.
    entry: Arc<Entry>,
    previous: Option<Arc<Entry>>,
}

/// Bytes that the history needs for a reference to an event: its counters, and a pointer.
const COUNTERS_AND_POINTER: usize = 3 * size_of::<usize>();

impl Event {
    pub(crate) fn new(kind: EventKind, entry: Arc<Entry>, previous: Option<Arc<Entry>>) -> Self {
        Self { kind, entry, previous }
    }

    /// The effect of the write.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The revision of the write.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.entry.revision()
    }

    /// The new state; for a deletion the final state, which carries the deletion's revision.
    #[must_use]
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// The state before the write; `None` when it created the key.
    #[must_use]
    pub fn previous(&self) -> Option<&Arc<Entry>> {
        self.previous.as_ref()
    }

    /// The frame `id` of this event: computed by `make` and shared by all watchers.
    ///
    /// Frames share the memory of a `cache` with the encodings of [`Entry::encoding`].
    ///
    /// # Errors
    ///
    /// Errors of `make`, which is called again next time.
    pub fn frame<E>(
        &self,
        cache: &EncodingCache,
        id: EncodingId,
        make: impl FnOnce(&Self) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        self.entry.encoding(cache, id.of_frame(), |_| make(self))
    }

    /// The frame `id`, if it is cached.
    #[must_use]
    pub fn cached_frame(&self, id: EncodingId) -> Option<Bytes> {
        self.entry.cached_encoding(id.of_frame())
    }

    /// Bytes of memory that only the history keeps allocated, now or once the key changes again.
    pub(crate) fn heap_size(&self) -> usize {
        let superseded = match self.kind {
            EventKind::Put { .. } => 0,
            EventKind::Delete => self.entry.heap_size(),
        };
        let own = size_of::<Self>() + COUNTERS_AND_POINTER;
        own + superseded + self.previous.as_ref().map_or(0, |entry| entry.heap_size())
    }
}

#[cfg(test)]
mod tests {
    use super::Event;

    #[test]
    fn events_and_their_counters_take_a_size_of_the_allocator() {
        assert!(size_of::<Event>() + 2 * size_of::<usize>() <= 48);
    }
}
