//! The cost of history, batch by batch.

use std::collections::VecDeque;

use crate::Revision;
use crate::history::SpilledEvent;
use crate::log::{Batch, Change};

/// Batches that are written within this time, in milliseconds, share a mark, up to this number of bytes on disk.
const MAX_DELAY: u64 = 250;
const TOGETHER_BYTES: u64 = 16 << 10;

/// The part of the memory of history that spilled changes may take (three fourths).
const PART_FOR_SPILLED: usize = 4;

/// The part of the memory that becomes free at once when changes are spilled (one eighth).
const PART_AT_ONCE: usize = 8;

/// Approximate bytes of a key on the heap beside its text.
const KEY: usize = 16;

/// The time at which neighbouring batches were written, and the cost of keeping their history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The last revision.
    pub(crate) revision: Revision,
    /// The time of the last batch, in milliseconds since 1970.
    pub(crate) at: u64,
    /// Bytes of superseded states.
    pub(crate) memory: usize,
    /// Bytes of memory once these are spilled.
    pub(crate) spilled: usize,
    /// Bytes on disk.
    pub(crate) disk: u64,
}

impl Mark {
    pub(crate) fn from_batch(batch: &Batch, memory: usize) -> Option<Self> {
        let size = |bytes: usize| bytes as u64;
        let disk = batch
            .records
            .iter()
            .map(|record| size(record.bytes.len() + record.key.len() + 32));
        // Only the history has the key of a deleted object.
        let spilled = batch.records.iter().map(|record| match record.change {
            Change::Put { .. } => SpilledEvent::SIZE,
            Change::Delete => SpilledEvent::SIZE + KEY + record.key.len(),
        });
        Some(Self {
            revision: batch.records.last()?.revision,
            at: batch.at,
            memory,
            spilled: spilled.sum(),
            disk: disk.sum(),
        })
    }
}

/// The times, in milliseconds since 1970, up to which changes are old.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ages {
    /// Changes up to this time are old, unless a reader needs them.
    pub(crate) old: u64,
    /// Changes up to this time are old in any case.
    pub(crate) expired: u64,
}

impl Ages {
    /// Ages at `now` of a history that is kept for `window`, both in milliseconds.
    ///
    /// A reader extends the history by half of its age. In kube-apiserver, which compacts once in each window, the token of a
    /// page expires after one to two windows, and clients may rely on its expiry by then.
    pub(crate) fn new(now: u64, window: u64) -> Self {
        let old = now.saturating_sub(window);
        Self {
            old,
            expired: old.saturating_sub(window / 2),
        }
    }
}

/// The bounds of history.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of memory.
    pub(crate) memory: usize,
    /// Bytes on disk.
    pub(crate) disk: u64,
    /// True if the states of older changes may be left to the backend.
    pub(crate) spills: bool,
}

/// The marks of all batches in the history, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MarkQueue {
    marks: VecDeque<Mark>,
    /// The number of marks whose changes are spilled; these come first.
    spilled: usize,
    /// The last revision that was spilled.
    spilled_through: Revision,
    /// Bytes of memory of all changes, and of the spilled ones among them.
    memory: usize,
    spilled_memory: usize,
    /// Bytes on disk.
    disk: u64,
}

impl MarkQueue {
    pub(crate) fn push(&mut self, mark: Mark) {
        self.memory += mark.memory;
        self.disk += mark.disk;
        let count = self.marks.len();
        if let Some(last) = self.marks.back_mut()
            && self.spilled < count
            && mark.at.abs_diff(last.at) < MAX_DELAY
            && last.disk + mark.disk <= TOGETHER_BYTES
        {
            last.revision = mark.revision;
            last.at = last.at.max(mark.at);
            last.memory += mark.memory;
            last.spilled += mark.spilled;
            last.disk += mark.disk;
            return;
        }
        self.marks.push_back(mark);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    pub(crate) fn first(&self) -> Option<&Mark> {
        self.marks.front()
    }

    pub(crate) fn exceeds(&self, limits: Limits) -> bool {
        self.memory > limits.memory || self.disk > limits.disk
    }

    /// Counts the oldest changes as spilled until the others fit into the memory. Returns the last one of them; zero if there is
    /// nothing to spill.
    pub(crate) fn spill(&mut self, limits: Limits) -> Revision {
        let mut last = Revision::ZERO;
        if !limits.spills || self.memory <= limits.memory {
            return last;
        }
        while self.memory > limits.memory - limits.memory / PART_AT_ONCE
            && let Some(mark) = self.marks.get(self.spilled)
        {
            self.memory = self.memory - mark.memory + mark.spilled;
            self.spilled_memory += mark.spilled;
            self.spilled += 1;
            last = mark.revision;
            self.spilled_through = last;
        }
        last
    }

    /// The last revision that was spilled.
    pub(crate) fn spilled_through(&self) -> Revision {
        self.spilled_through
    }

    /// Drops the marks that are old, unless they are newer than the revision `held` and not expired, and those that exceed a
    /// limit. Returns the last revision of them; `floor` or zero if there are none.
    pub(crate) fn forget(&mut self, ages: Ages, held: Option<Revision>, floor: Revision, limits: Limits) -> Revision {
        let mut floor = floor;
        while let Some(mark) = self.marks.front() {
            let is_over = self.exceeds(limits)
                || (limits.spills && self.spilled_memory > limits.memory - limits.memory / PART_FOR_SPILLED);
            let is_held = held.is_some_and(|held| mark.revision > held);
            let is_old = mark.at <= ages.expired || (mark.at <= ages.old && !is_held);
            if !is_over && !is_old && mark.revision > floor {
                break;
            }
            floor = floor.max(mark.revision);
            self.disk -= mark.disk;
            match self.spilled.checked_sub(1) {
                Some(left) => {
                    self.memory -= mark.spilled;
                    self.spilled_memory -= mark.spilled;
                    self.spilled = left;
                }
                None => self.memory -= mark.memory,
            }
            self.marks.pop_front();
        }
        floor
    }

    /// The last revision that was written at `at` or before; zero if the history does not go back so far.
    pub(crate) fn last_at(&self, at: u64) -> Revision {
        let count = self.marks.partition_point(|mark| mark.at <= at);
        let last = count.checked_sub(1).and_then(|last| self.marks.get(last));
        last.map_or(Revision::ZERO, |mark| mark.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory: 800,
        disk: 1 << 20,
        spills: true,
    };

    const YOUNG: Ages = Ages { old: 0, expired: 0 };

    fn old(old: u64) -> Ages {
        Ages { old, expired: 0 }
    }

    fn mark(revision: u64) -> Mark {
        Mark {
            revision: Revision(revision),
            at: revision * 1000,
            memory: 100,
            spilled: 10,
            disk: 1000,
        }
    }

    #[test]
    fn marks_beyond_the_limit_are_spilled_and_only_then_forgotten() {
        let mut queue = MarkQueue::default();
        (1..=8).for_each(|revision| queue.push(mark(revision)));
        assert_eq!(queue.spill(LIMITS), Revision::ZERO);
        queue.push(mark(9));
        assert_eq!(queue.spill(LIMITS), Revision(3), "one eighth is free then");
        assert_eq!(queue.memory, 630);
        for revision in 10..=60 {
            queue.push(mark(revision));
            queue.spill(LIMITS);
            assert!(queue.memory <= LIMITS.memory);
        }
        assert_eq!(queue.forget(YOUNG, None, Revision::ZERO, LIMITS), Revision::ZERO);
        for revision in 61..=200 {
            queue.push(mark(revision));
            queue.spill(LIMITS);
            queue.forget(YOUNG, None, Revision::ZERO, LIMITS);
            assert!(queue.memory <= LIMITS.memory && queue.spilled_memory <= 600);
        }
        assert_eq!(queue.spilled, 60);
        let rest = queue.forget(old(u64::MAX), None, Revision::ZERO, LIMITS);
        assert_eq!(
            (rest, queue.memory, queue.spilled_memory, queue.disk),
            (Revision(200), 0, 0, 0)
        );
    }

    #[test]
    fn a_held_revision_outlasts_its_age_but_neither_its_expiry_nor_the_limits() {
        let filled = || {
            let mut queue = MarkQueue::default();
            (1..=9).for_each(|revision| queue.push(mark(revision)));
            queue
        };
        let held = Some(Revision(4));
        assert_eq!(filled().forget(old(6000), None, Revision::ZERO, LIMITS), Revision(6));
        assert_eq!(filled().last_at(6000), Revision(6));
        assert_eq!(filled().forget(old(6000), held, Revision::ZERO, LIMITS), Revision(4));
        assert_eq!(
            filled().forget(old(6000), held, Revision(5), LIMITS),
            Revision(5),
            "by request"
        );
        let expired = Ages::new(9000, 2000);
        assert_eq!((expired.old, expired.expired), (7000, 6000));
        assert_eq!(filled().forget(expired, held, Revision::ZERO, LIMITS), Revision(6));
        let limits = Limits { disk: 2000, ..LIMITS };
        assert_eq!(filled().forget(YOUNG, held, Revision::ZERO, limits), Revision(7));
    }

    #[test]
    fn neighbouring_batches_share_a_mark_unless_it_is_spilled() {
        let mut queue = MarkQueue::default();
        let at = |revision, at| Mark { at, ..mark(revision) };
        (1..=9).for_each(|revision| queue.push(at(revision, 5000)));
        assert_eq!((queue.marks.len(), queue.memory, queue.disk), (1, 900, 9000));
        assert_eq!(queue.spill(LIMITS), Revision(9));
        queue.push(at(10, 5000));
        queue.push(at(11, 5000 + MAX_DELAY));
        let revisions: Vec<_> = queue.marks.iter().map(|mark| mark.revision.0).collect();
        assert_eq!(revisions, [9, 10, 11]);
    }
}
