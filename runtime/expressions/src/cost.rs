//! Evaluation cost: estimated from schema bounds, and counted during evaluation.
//!
//! The unit and all factors are those of kube-apiserver, so that both servers accept the same rules.

mod actual;
mod calls;
mod estimate;

pub(crate) use actual::Price;
pub(crate) use estimate::estimate;

/// Cost of one pass over a string, per character.
const TEXT: f64 = 0.1;

/// Cost of a pattern, per character of the pattern.
const PATTERN: f64 = 0.25;

/// Cost of creating a list.
pub(crate) const LIST: u64 = 10;

/// Cost of creating a map.
pub(crate) const MAP: u64 = 30;

/// Cost of creating an object.
pub(crate) const OBJECT: u64 = 40;

/// Cost of an authorizer query.
const QUESTION: u64 = 350_000;

/// The pattern length assumed for named formats, at most.
const MAX_FORMAT_PATTERN: f64 = 128.0;

/// The lower and upper bound of a cost or size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Range {
    const NONE: Range = Range::fixed(0);
    const ONE: Range = Range::fixed(1);
    const UNKNOWN: Range = Range { min: 0, max: u64::MAX };
    /// The identity of range union: any other range widens it.
    const NEVER: Range = Range { min: u64::MAX, max: 0 };

    pub(crate) const fn fixed(value: u64) -> Self {
        Range { min: value, max: value }
    }

    fn plus(self, other: Range) -> Range {
        Range {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
        }
    }

    fn times(self, other: Range) -> Range {
        Range {
            min: self.min.saturating_mul(other.min),
            max: self.max.saturating_mul(other.max),
        }
    }

    fn by(self, factor: f64) -> Range {
        Range {
            min: scaled(self.min, factor),
            max: scaled(self.max, factor),
        }
    }

    fn or(self, other: Range) -> Range {
        Range {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

/// A multiple, rounded up; saturates at `u64::MAX`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs are rounded so, and saturate"
)]
fn scaled(value: u64, factor: f64) -> u64 {
    (value as f64 * factor).ceil() as u64
}
