//! Evaluation cost, estimated from schema bounds before evaluation. [`price`](crate::price) counts it during evaluation.

mod calls;
mod estimate;

use crate::price::scaled;

pub(crate) use estimate::estimate;

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
