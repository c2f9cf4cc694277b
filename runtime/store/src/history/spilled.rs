//! Changes whose states are in the backend only.

use std::collections::VecDeque;

use crate::key::KeyedRow;
use crate::{Entry, Revision};

/// Maximum number of changes of a chunk: memory grows and shrinks by as much.
const CHUNK: usize = 512;

/// A change that is read back from the backend when a reader needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpilledEvent {
    /// The key; the row may be of any of its states.
    pub(crate) keyed_row: KeyedRow,
    pub(crate) revision: Revision,
    /// The revision of the state before; zero if the key had none.
    pub(crate) previous: Revision,
    /// Bytes of the object.
    pub(crate) length: u32,
    pub(crate) is_deletion: bool,
}

impl SpilledEvent {
    /// Bytes of memory, bookkeeping included.
    pub(crate) const SIZE: usize = 48;

    /// The same change, whose key is that of `state`, so that there is one copy of it.
    pub(crate) fn sharing(self, state: &Entry) -> Self {
        let keyed_row = state.keyed_row().clone();
        Self { keyed_row, ..self }
    }
}

/// Changes in revision order. Unlike one queue, it never doubles its memory.
#[derive(Debug, Default)]
pub(crate) struct SpilledEvents {
    /// All but the first and the last one are full; none is empty.
    chunks: VecDeque<VecDeque<SpilledEvent>>,
    len: usize,
}

impl SpilledEvents {
    pub(crate) fn push(&mut self, event: SpilledEvent) {
        self.len += 1;
        match self.chunks.back_mut() {
            Some(last) if last.len() < CHUNK => last.push_back(event),
            Some(_) | None => self.chunks.push_back([event].into()),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<SpilledEvent> {
        let first = self.chunks.front_mut()?;
        let event = first.pop_front();
        if first.is_empty() {
            self.chunks.pop_front();
        }
        self.len -= usize::from(event.is_some());
        event
    }

    pub(crate) fn first(&self) -> Option<&SpilledEvent> {
        self.chunks.front()?.front()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The number of changes up to and including `revision`.
    pub(crate) fn count_to(&self, revision: Revision) -> usize {
        let is_before = |event: &SpilledEvent| event.revision <= revision;
        let whole = self.chunks.partition_point(|chunk| chunk.back().is_some_and(is_before));
        let before: usize = self.chunks.range(..whole).map(VecDeque::len).sum();
        before
            + self
                .chunks
                .get(whole)
                .map_or(0, |chunk| chunk.partition_point(is_before))
    }

    /// The changes behind the first `skipped` ones.
    pub(crate) fn since(&self, skipped: usize) -> impl Iterator<Item = &SpilledEvent> {
        let first = self.chunks.front().map_or(0, VecDeque::len);
        let (chunk, index) = match skipped.checked_sub(first) {
            None => (0, skipped),
            Some(behind) => (1 + behind / CHUNK, behind % CHUNK),
        };
        let mut chunks = self.chunks.range(chunk.min(self.chunks.len())..);
        let begun = chunks
            .next()
            .into_iter()
            .flat_map(move |chunk| chunk.range(index.min(chunk.len())..));
        begun.chain(chunks.flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowRef;

    #[test]
    fn changes_are_found_by_number_and_by_revision() {
        let mut events = SpilledEvents::default();
        let event = |number: u64| SpilledEvent {
            keyed_row: KeyedRow::new("/a", RowRef::default()),
            revision: Revision(number * 2),
            previous: Revision::ZERO,
            length: 1,
            is_deletion: false,
        };
        let (mut first, mut next) = (1, 1);
        // Grows by three and shrinks by two, far enough for several chunks.
        for round in 0..1200 {
            for _ in 0..3 {
                events.push(event(next));
                next += 1;
            }
            for _ in 0..2 {
                assert_eq!(events.pop(), Some(event(first)));
                first += 1;
            }
            if round % 97 == 0 {
                let len = usize::try_from(next - first).unwrap();
                assert_eq!((events.len(), events.first()), (len, Some(&event(first))));
                for skipped in [0, 1, len / 3, len - 1, len, len + 1] {
                    let expected = (first + skipped as u64..next).map(event);
                    assert!(events.since(skipped).cloned().eq(expected), "{skipped} of {len}");
                }
                assert_eq!(events.count_to(Revision(first * 2 - 1)), 0);
                assert_eq!(events.count_to(Revision(first * 2 + 1)), 1);
                assert_eq!(events.count_to(Revision(u64::MAX)), len);
            }
        }
        while events.pop().is_some() {}
        assert_eq!((events.len(), events.chunks.len()), (0, 0));
    }
}
