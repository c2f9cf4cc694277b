//! How much one evaluation may make and look at.

use super::{Fault, Value};

/// In bytes: many times what expressions within their cost make, and little enough for memory.
const MAX_BYTES: usize = 128 << 20;

/// Steps that matching patterns may take, in one evaluation or in all of one object: a few seconds. Costs count the
/// characters of a pattern, of which a few are enough for an automaton of a hundred thousand states.
pub(crate) const MAX_STEPS: u64 = 1 << 30;

/// What comparing one pair of values counts as, in bytes.
pub(super) const COMPARISON: usize = 16;

/// What evaluation may still make and look at, in bytes.
///
/// Costs do not bound that: they are kube-apiserver's, where joining two lists costs nothing because the result shares
/// its parts. Values share theirs here too, so that a short expression can name a list of as many elements as it likes.
#[derive(Debug)]
pub(crate) struct Effort {
    left: usize,
    steps: u64,
    most_steps: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self::with_steps(MAX_STEPS)
    }
}

impl Effort {
    /// So much of it.
    #[cfg(test)]
    pub(crate) fn of(bytes: usize) -> Self {
        Self {
            left: bytes,
            ..Self::default()
        }
    }

    /// As much as one evaluation may take, with `most_steps` of matching patterns.
    pub(crate) fn with_steps(most_steps: u64) -> Self {
        Self {
            left: MAX_BYTES,
            steps: 0,
            most_steps,
        }
    }

    /// Steps that were taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes `steps` of matching a pattern; to be called before.
    pub(crate) fn takes_steps(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps <= self.most_steps {
            true => Ok(()),
            false => Err(Fault::TooExpensive),
        }
    }

    /// What is left.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Takes `bytes` of it; to be called before they are made.
    pub(crate) fn takes(&mut self, bytes: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or(Fault::TooExpensive)?;
        Ok(())
    }

    /// Takes what `count` elements of a list need.
    pub(crate) fn takes_elements(&mut self, count: usize) -> Result<(), Fault> {
        self.takes(count.saturating_mul(size_of::<Value<'_>>()))
    }
}
