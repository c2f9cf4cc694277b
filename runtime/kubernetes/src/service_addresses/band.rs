//! A range that is allocated from its upper part first, so that the numbers in the lower one are free for users to
//! choose.

/// The bounds of the lower part: its least and most numbers, and the divisor of the range's size in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct BandSize {
    pub(super) least: u128,
    pub(super) most: u128,
    pub(super) part: u128,
}

/// Numbers from `first` to `last`. Those before `upper` are allocated only when all others are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Band {
    first: u128,
    upper: u128,
    last: u128,
}

impl Band {
    /// Returns the numbers from `first` to `last`, of a range that counts `size` numbers; `None` if there are none.
    pub(super) fn new(first: u128, last: u128, size: u128, bounds: BandSize) -> Option<Self> {
        let lower = match size {
            size if size <= bounds.least => 0,
            size => (size / bounds.part).clamp(bounds.least, bounds.most),
        };
        let upper = first.checked_add(lower)?;
        (first <= last).then_some(Self { first, upper, last })
    }

    /// Returns the number of numbers in the range.
    pub(super) fn count(&self) -> u128 {
        (self.last - self.first).saturating_add(1)
    }

    /// True if `number` is in the range.
    pub(super) fn contains(&self, number: u128) -> bool {
        (self.first..=self.last).contains(&number)
    }

    /// Returns all numbers in the order in which they are tried: the upper part, then the lower one, each in a circle
    /// from a random start.
    pub(super) fn candidates(&self) -> impl Iterator<Item = u128> + use<> {
        let lower_end = self.upper.min(self.last.saturating_add(1));
        around(self.upper, self.last.saturating_add(1)).chain(around(self.first, lower_end))
    }
}

/// Returns the numbers from `start` up to but not including `end`, in a circle from a random one.
fn around(start: u128, end: u128) -> impl Iterator<Item = u128> {
    let count = end.saturating_sub(start);
    // A range with more numbers than a random one can reach never fills.
    let reach = u64::try_from(count).unwrap_or(u64::MAX);
    let middle = start + u128::from(if reach == 0 { 0 } else { fastrand::u64(..reach) });
    (middle..end).chain(start..middle.min(end))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SIZE: BandSize = BandSize {
        least: 16,
        most: 256,
        part: 16,
    };

    fn band(first: u128, last: u128) -> Band {
        Band::new(first, last, last - first + 1, SIZE).unwrap()
    }

    #[test]
    fn the_lower_part_has_a_sixteenth_within_bounds() {
        for (last, upper) in [(16, 1), (17, 17), (256, 17), (1024, 65), (1 << 20, 257)] {
            assert_eq!(band(1, last).upper, upper, "{last}");
        }
    }

    #[test]
    fn each_number_is_tried_once_and_the_upper_part_first() {
        for _ in 0..200 {
            let last = u128::from(fastrand::u64(1..600));
            let band = band(1, last);
            let tried: Vec<u128> = band.candidates().collect();
            let distinct: BTreeSet<u128> = tried.iter().copied().collect();
            assert_eq!(tried.len(), distinct.len());
            assert_eq!(distinct, (1..=last).collect());
            let lower = tried.iter().skip_while(|number| **number >= band.upper);
            assert!(lower.clone().all(|number| *number < band.upper));
        }
    }

    #[test]
    fn a_range_without_end_has_candidates_at_once() {
        let band = band(1, u128::MAX - 1);
        assert!(band.candidates().take(10).all(|number| band.contains(number)));
    }
}
