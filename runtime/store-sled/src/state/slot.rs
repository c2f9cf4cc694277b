//! A share of all keys.

use std::ops::RangeInclusive;

/// Bits of a slot, at most: 65,536 slots.
const MAX_BITS: u8 = 16;

/// Those keys whose hash begins with the same bits. Slots are halved as their content grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(super) bits: u8,
    /// The first bits of the hashes.
    pub(super) number: u32,
}

/// The hash that places a key.
pub(crate) fn hash(key: &str) -> u32 {
    crc32fast::hash(key.as_bytes())
}

impl Slot {
    /// All keys.
    pub(crate) const ALL: Self = Self { bits: 0, number: 0 };

    /// A slot as it is stored; `None` when there is no such one.
    pub(super) fn new(bits: u8, number: u32) -> Option<Self> {
        (bits <= MAX_BITS && number < 1 << bits).then_some(Self { bits, number })
    }

    /// The hashes of its keys.
    pub(crate) fn hashes(self) -> RangeInclusive<u32> {
        let first = self.number.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
        first..=first | u32::MAX.checked_shr(u32::from(self.bits)).unwrap_or(0)
    }

    /// True if the keys of `hash` are here.
    pub(crate) fn holds(self, hash: u32) -> bool {
        self.hashes().contains(&hash)
    }

    /// Its halves, in the order of their hashes; `None` when it is as small as can be.
    pub(super) fn halves(self) -> Option<[Self; 2]> {
        let half = |number| Self {
            bits: self.bits + 1,
            number,
        };
        (self.bits < MAX_BITS).then(|| [half(self.number * 2), half(self.number * 2 + 1)])
    }

    /// The slot of which it is the first half and `other` the second.
    pub(super) fn joined(self, other: Self) -> Option<Self> {
        let whole = Self {
            bits: self.bits.checked_sub(1)?,
            number: self.number / 2,
        };
        (whole.halves() == Some([self, other])).then_some(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BITS, Slot};

    #[test]
    fn halves_share_the_hashes_of_the_whole() {
        let mut slot = Slot::ALL;
        assert_eq!(slot.hashes(), 0..=u32::MAX);
        while let Some([one, other]) = slot.halves() {
            let (whole, first, second) = (slot.hashes(), one.hashes(), other.hashes());
            assert_eq!((first.start(), second.end()), (whole.start(), whole.end()));
            assert_eq!(first.end() + 1, *second.start());
            assert_eq!((one.joined(other), other.joined(one)), (Some(slot), None));
            assert!(one.holds(*first.end()) && !one.holds(*second.start()));
            slot = other;
        }
        assert_eq!(slot.bits, MAX_BITS);
        assert_eq!(Slot::new(MAX_BITS + 1, 0), None);
        assert_eq!(Slot::new(2, 4), None);
        assert_eq!(Slot::new(2, 3), Some(Slot { bits: 2, number: 3 }));
    }
}
