//! The number of every write.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

/// The position of one write in the order of all writes of a store.
///
/// Revisions only grow, every write has its own, and a number that a reader could have seen is never assigned to
/// another write, across crashes too. Numbers may be skipped: a batch that could not be made durable uses its numbers
/// up.
///
/// `Revision(0)` is before all writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl Revision {
    /// Before all writes.
    pub const ZERO: Self = Self(0);

    /// The revision that follows this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The number of characters that [`fmt::Display`] prints.
    #[must_use]
    pub fn digits(self) -> usize {
        self.0.checked_ilog10().map_or(1, |log| log as usize + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Revision {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn digits_are_what_display_prints() {
        for number in [0, 1, 9, 10, 99, 100, 12_345, u64::MAX] {
            let revision = Revision(number);
            assert_eq!(revision.digits(), revision.to_string().len());
            assert_eq!(revision.to_string().parse(), Ok(revision));
        }
    }
}
