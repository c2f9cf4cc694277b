//! A limit on the memory and matching steps of one evaluation.

use super::{Fault, Value};

/// The memory limit, in bytes: many times the need of expressions within their cost limit, yet small in absolute terms.
const MAX_BYTES: usize = 128 << 20;

/// The limit of pattern matching steps, in one evaluation or in all evaluations of one object: a few seconds. Costs count only
/// the characters of a pattern, of which a few suffice for an automaton of a hundred thousand states.
pub(crate) const MAX_STEPS: u64 = 1 << 30;

/// The charge for comparing one pair of values, in bytes.
pub(super) const COMPARISON: usize = 16;

/// The remaining allowance of one evaluation for created and visited data, in bytes.
///
/// The cost limit does not bound memory: in kube-apiserver's cost model, joining two lists is free because the result shares
/// its parts. Values share their parts here, too, so that a short expression can describe an arbitrarily long list.
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
    /// Creates an allowance of `bytes`.
    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: usize) -> Self {
        Self {
            left: bytes,
            ..Self::default()
        }
    }

    /// Creates the allowance of one evaluation, with `most_steps` of pattern matching.
    pub(crate) fn with_steps(most_steps: u64) -> Self {
        Self {
            left: MAX_BYTES,
            steps: 0,
            most_steps,
        }
    }

    /// Returns the number of steps taken.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Charges `steps` of pattern matching; called before matching.
    pub(crate) fn takes_steps(&mut self, steps: u64) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        match self.steps <= self.most_steps {
            true => Ok(()),
            false => Err(Fault::TooExpensive),
        }
    }

    /// Returns the remaining bytes.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Charges `bytes`; called before they are allocated.
    pub(crate) fn takes(&mut self, bytes: usize) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or(Fault::TooExpensive)?;
        Ok(())
    }

    /// Charges the memory of `count` list elements.
    pub(crate) fn takes_elements(&mut self, count: usize) -> Result<(), Fault> {
        self.takes(count.saturating_mul(size_of::<Value<'_>>()))
    }
}
