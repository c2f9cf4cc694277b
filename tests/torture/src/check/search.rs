//! The search for an order of operations that explains their results: the algorithm of Wing and Gong, with Lowe's memory of
//! what was tried.
//!
//! Operations with an unknown outcome are optional. They need not take part, but if they do, then before their end.
//!
//! Two rules keep the search short. An operation that fits and leaves the state as it is, such as a read, comes at once: an order
//! in which it comes later remains one when it comes first, unless an optional operation had to come before it. And of optional
//! operations with the same effect the one that began first is tried.
//!
//! An order is first searched among those in which the operations with a rank have the order of their ranks. Any order that is found
//! explains the results; if none of these does, the ranks are ignored.

use std::collections::HashSet;

/// Maximum number of steps of one search.
const STEPS: usize = 3_000_000;

/// An operation that had its effect, if any, between two instants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<E> {
    pub(super) begin: usize,
    pub(super) end: usize,
    /// True if it may have no effect.
    pub(super) is_optional: bool,
    /// Its supposed place among the operations with a rank.
    pub(super) rank: Option<u64>,
    pub(super) effect: E,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchResult {
    /// There is an order.
    Explained,
    /// There is none.
    Contradiction,
    /// The search was given up.
    Undecided,
}

/// One step of the search: the state before it, and the operations that can come next.
struct Frame {
    state: u64,
    candidates: std::vec::IntoIter<usize>,
    chosen: Option<usize>,
}

struct Search<'a, E> {
    /// By their begin.
    operations: &'a [Operation<E>],
    /// True if operations with a rank come in the order of their ranks.
    is_ranked: bool,
    done: Vec<u64>,
    left: usize,
    frames: Vec<Frame>,
}

/// Searches an order of `operations`, sorted by their begin, that starts in the state 0 and in which `apply` accepts each
/// operation.
pub(super) fn search<E: PartialEq>(
    operations: &[Operation<E>],
    apply: impl Fn(u64, &E) -> Option<u64>,
) -> SearchResult {
    let has_ranks = operations.iter().any(|operation| operation.rank.is_some());
    if has_ranks && Search::new(operations, true).run(&apply) == SearchResult::Explained {
        return SearchResult::Explained;
    }
    Search::new(operations, false).run(&apply)
}

impl<'a, E: PartialEq> Search<'a, E> {
    fn new(operations: &'a [Operation<E>], is_ranked: bool) -> Self {
        Self {
            operations,
            is_ranked,
            done: vec![0; operations.len().div_ceil(64)],
            left: operations.iter().filter(|operation| !operation.is_optional).count(),
            frames: Vec::new(),
        }
    }

    fn run(mut self, apply: impl Fn(u64, &E) -> Option<u64>) -> SearchResult {
        let mut tried: HashSet<(Vec<u64>, u64)> = HashSet::new();
        self.descend(0, &apply);
        for _ in 0..STEPS {
            if self.left == 0 {
                return SearchResult::Explained;
            }
            let Some(frame) = self.frames.last_mut() else {
                return SearchResult::Contradiction;
            };
            if let Some(chosen) = frame.chosen.take() {
                self.set(chosen, false);
                continue;
            }
            let Some(next) = frame.candidates.next() else {
                self.frames.pop();
                continue;
            };
            let Some(state) = apply(frame.state, &self.operations[next].effect) else {
                continue;
            };
            frame.chosen = Some(next);
            self.set(next, true);
            if tried.insert((self.done.clone(), state)) {
                self.descend(state, &apply);
            }
        }
        SearchResult::Undecided
    }

    fn is_done(&self, index: usize) -> bool {
        self.done[index / 64] & (1 << (index % 64)) != 0
    }

    fn set(&mut self, index: usize, done: bool) {
        self.done[index / 64] ^= 1 << (index % 64);
        if !self.operations[index].is_optional {
            match done {
                true => self.left -= 1,
                false => self.left += 1,
            }
        }
    }

    /// The lowest rank of the operations that have to come; `None` if these have none.
    fn lowest_rank(&self) -> Option<u64> {
        let left = (0..self.operations.len()).filter(|index| !self.is_done(*index));
        let left = left.map(|index| &self.operations[index]);
        left.filter(|operation| !operation.is_optional)
            .filter_map(|operation| operation.rank)
            .min()
    }

    /// Begins a step in `state`.
    fn descend(&mut self, state: u64, apply: impl Fn(u64, &E) -> Option<u64>) {
        let mut first_end = usize::MAX;
        let mut last_begin = 0;
        for (index, operation) in self.operations.iter().enumerate() {
            if self.is_done(index) {
                last_begin = operation.begin;
            } else if operation.begin > first_end {
                break;
            } else if !operation.is_optional {
                first_end = first_end.min(operation.end);
            }
        }
        let mut candidates: Vec<usize> = (0..self.operations.len())
            .take_while(|index| self.operations[*index].begin <= first_end)
            .filter(|index| !self.is_done(*index) && self.operations[*index].end >= last_begin)
            .collect();
        if self.is_ranked {
            let lowest = self.lowest_rank().unwrap_or(u64::MAX);
            candidates.retain(|index| self.operations[*index].rank.is_none_or(|rank| rank <= lowest));
        }
        let operation = |index: usize| &self.operations[index];
        let optional: Vec<usize> = candidates
            .iter()
            .copied()
            .filter(|index| operation(*index).is_optional)
            .collect();
        let comes_at_once = |index: usize| {
            let Operation { begin, effect, .. } = operation(index);
            !operation(index).is_optional
                && apply(state, effect) == Some(state)
                && optional.iter().all(|other| operation(*other).end >= *begin)
        };
        if let Some(next) = candidates.iter().copied().find(|index| comes_at_once(*index)) {
            candidates = vec![next];
        } else {
            let is_like = |index: usize, other: usize| {
                operation(other).end == operation(index).end && operation(other).effect == operation(index).effect
            };
            let is_first = |index: usize| {
                let mut earlier = optional.iter().take_while(|other| **other < index);
                !operation(index).is_optional || !earlier.any(|other| is_like(index, *other))
            };
            candidates.retain(|index| is_first(*index));
            candidates.sort_by_key(|index| (operation(*index).is_optional, operation(*index).end));
        }
        self.frames.push(Frame {
            state,
            candidates: candidates.into_iter(),
            chosen: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write of a state that needs another one before it (0: any), or a read.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Effect {
        Write { before: u64, after: u64 },
        Read(u64),
    }

    fn apply(state: u64, effect: &Effect) -> Option<u64> {
        match *effect {
            Effect::Write { before, after } => (before == 0 || before == state).then_some(after),
            Effect::Read(expected) => (state == expected).then_some(state),
        }
    }

    fn operation(begin: usize, end: usize, is_optional: bool, effect: Effect) -> Operation<Effect> {
        Operation {
            begin,
            end,
            is_optional,
            rank: None,
            effect,
        }
    }

    #[test]
    fn ranks_decide_what_takes_too_long_without_them() {
        // All writes overlap, and every other one needs the one before it. A read of the last one follows.
        let ranked = |rank: u64, before: u64| Operation {
            rank: Some(rank),
            ..operation(0, 1000, false, Effect::Write { before, after: rank })
        };
        let writes = (1..=120).map(|rank| ranked(rank, if rank % 2 == 0 { rank - 1 } else { 0 }));
        let mut operations: Vec<_> = writes.rev().collect();
        operations.push(operation(1001, 1002, false, Effect::Read(120)));
        assert_eq!(search(&operations, apply), SearchResult::Explained);
    }

    #[test]
    fn wrong_ranks_do_not_hide_an_order() {
        let ranked = |rank, begin, effect| Operation {
            rank: Some(rank),
            ..operation(begin, begin + 1, false, effect)
        };
        let operations = [
            ranked(2, 0, Effect::Write { before: 0, after: 1 }),
            ranked(1, 2, Effect::Write { before: 1, after: 2 }),
        ];
        assert_eq!(search(&operations, apply), SearchResult::Explained);
    }

    #[test]
    fn many_deletions_of_unknown_outcome_are_decided() {
        let mut operations = Vec::new();
        let mut now = 0;
        for round in 1..=100 {
            // It is not known when the deletion is performed.
            operations.push(operation(now, usize::MAX, true, Effect::Write { before: 0, after: 0 }));
            operations.push(operation(
                now + 1,
                now + 2,
                false,
                Effect::Write {
                    before: 0,
                    after: round,
                },
            ));
            operations.push(operation(now + 3, now + 5, false, Effect::Read(round)));
            operations.push(operation(now + 4, now + 6, false, Effect::Read(0)));
            now += 10;
        }
        assert_eq!(search(&operations, apply), SearchResult::Explained);
        operations.push(operation(now, now + 1, false, Effect::Read(7)));
        assert_eq!(search(&operations, apply), SearchResult::Contradiction);
    }

    #[test]
    fn an_unknown_write_from_before_a_read_may_be_needed_before_it() {
        // The read fits at once, but then the first write could not come any more, and the last one needs it.
        let operations = [
            operation(0, 1, true, Effect::Write { before: 0, after: 1 }),
            operation(2, 9, false, Effect::Write { before: 1, after: 0 }),
            operation(3, 4, false, Effect::Read(0)),
        ];
        assert_eq!(search(&operations, apply), SearchResult::Explained);
    }
}
