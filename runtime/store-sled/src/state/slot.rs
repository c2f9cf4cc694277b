//! A share of all keys.

use std::hash::Hasher as _;
use std::ops::RangeInclusive;

use siphasher::sip::SipHasher24;

use crate::random;

/// Maximum number of bits of a slot.
const MAX_BITS: u8 = 32;

/// The keys whose hash begins with the same bits. Slots are halved as their content grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Slot {
    pub(super) bits: u8,
    /// The first bits of the hashes.
    pub(super) number: u64,
}

/// The hash that places keys in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHash {
    /// CRC-32, as in lists of version 1. Clients can choose names that share a slot.
    Checksum,
    /// SipHash-2-4 with a key that no client knows.
    Keyed([u8; 16]),
}

impl KeyHash {
    /// Returns a hash with a new key.
    pub(crate) fn random() -> Self {
        Self::Keyed(((u128::from(random::number()) << 64) | u128::from(random::number())).to_le_bytes())
    }

    /// The hash of `key`, whose first bits are its slot.
    pub(crate) fn of(self, key: &str) -> u64 {
        match self {
            Self::Checksum => u64::from(crc32fast::hash(key.as_bytes())) << 32,
            Self::Keyed(secret) => {
                let mut hasher = SipHasher24::new_with_key(&secret);
                hasher.write(key.as_bytes());
                hasher.finish()
            }
        }
    }
}

impl Slot {
    /// All keys.
    pub(crate) const ALL: Self = Self { bits: 0, number: 0 };

    /// Returns a slot as it is stored; `None` if it is not valid.
    pub(super) fn new(bits: u8, number: u64) -> Option<Self> {
        (bits <= MAX_BITS && number < 1 << bits).then_some(Self { bits, number })
    }

    /// The hashes of its keys.
    pub(crate) fn hashes(self) -> RangeInclusive<u64> {
        let first = self.number.checked_shl(64 - u32::from(self.bits)).unwrap_or(0);
        first..=first | u64::MAX.checked_shr(u32::from(self.bits)).unwrap_or(0)
    }

    /// True if keys with `hash` belong to this slot.
    pub(crate) fn holds(self, hash: u64) -> bool {
        self.hashes().contains(&hash)
    }

    /// Its halves, in the order of their hashes; `None` if it cannot be halved.
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
    use super::{KeyHash, MAX_BITS, Slot};

    #[test]
    fn halves_share_the_hashes_of_the_whole() {
        let mut slot = Slot::ALL;
        assert_eq!(slot.hashes(), 0..=u64::MAX);
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

    #[test]
    fn names_are_placed_by_a_key_that_clients_do_not_know() {
        // Names with the same CRC-32, which clients can find.
        let names = ["/things/plumless", "/things/buckeroo"];
        let [one, other] = names.map(|name| KeyHash::Checksum.of(name));
        assert_eq!(one, other);
        let hash = KeyHash::Keyed(std::array::from_fn(|number| number as u8));
        let [one, other] = names.map(|name| hash.of(name));
        assert_ne!(one >> 32, other >> 32);
        assert_eq!(hash.of(""), 0x726f_db47_dd0e_0e31, "the first vector of the paper");
        assert_ne!(KeyHash::random(), KeyHash::random());
    }
}
