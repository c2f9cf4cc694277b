//! The search for an order of operations that explains their results: the algorithm of Wing and Gong, with Lowe's memory of
//! what was tried.
//!
//! Operations with an unknown outcome are optional. They need not take part, but if they do, then before their end.

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
    pub(super) effect: E,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
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
    done: Vec<u64>,
    left: usize,
    frames: Vec<Frame>,
}

/// Searches an order of `operations`, sorted by their begin, that starts in the state 0 and in which `apply` accepts each
/// operation.
pub(super) fn search<E>(operations: &[Operation<E>], apply: impl Fn(u64, &E) -> Option<u64>) -> Verdict {
    let mut search = Search {
        operations,
        done: vec![0; operations.len().div_ceil(64)],
        left: operations.iter().filter(|operation| !operation.is_optional).count(),
        frames: Vec::new(),
    };
    let mut tried: HashSet<(Vec<u64>, u64)> = HashSet::new();
    search.descend(0);
    for _ in 0..STEPS {
        if search.left == 0 {
            return Verdict::Explained;
        }
        let Some(frame) = search.frames.last_mut() else {
            return Verdict::Contradiction;
        };
        if let Some(chosen) = frame.chosen.take() {
            search.set(chosen, false);
            continue;
        }
        let Some(next) = frame.candidates.next() else {
            search.frames.pop();
            continue;
        };
        let Some(state) = apply(frame.state, &operations[next].effect) else {
            continue;
        };
        frame.chosen = Some(next);
        search.set(next, true);
        if tried.insert((search.done.clone(), state)) {
            search.descend(state);
        }
    }
    Verdict::Undecided
}

impl<E> Search<'_, E> {
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

    /// Begins a step in `state`.
    fn descend(&mut self, state: u64) {
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
        candidates.sort_by_key(|index| (self.operations[*index].is_optional, self.operations[*index].end));
        self.frames.push(Frame {
            state,
            candidates: candidates.into_iter(),
            chosen: None,
        });
    }
}
