//! Pseudo-random numbers that depend only on a seed.

use crate::facts::StructFacts;

/// SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Random {
    state: u64,
    /// The structs that are currently being filled, outermost first.
    pub(super) open: Vec<&'static StructFacts>,
}

impl Random {
    /// Returns the generator for a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            state: seed,
            open: Vec::new(),
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, `end`; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// Returns true with a probability of 1 in `of`.
    pub(super) fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// Returns a number between two others, both inclusive.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let width = high.saturating_sub(low).saturating_add(1).max(1);
        low.saturating_add_unsigned(self.below(width.unsigned_abs()))
    }

    /// Returns one element of a list, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}
