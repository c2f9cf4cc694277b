//! Sixteen bytes that are compared at once. Masks have bit N set for byte N.

#[cfg(target_arch = "x86_64")]
pub(super) use vector::Lane;
#[cfg(not(target_arch = "x86_64"))]
pub(super) use words::Lane;

/// Vectors that every processor of the architecture has.
#[cfg(target_arch = "x86_64")]
mod vector {
    use safe_arch::{cmp_eq_mask_i8_m128i, m128i, min_u8_m128i, move_mask_i8_m128i, set_splat_i8_m128i};

    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Lane(m128i);

    impl Lane {
        #[inline]
        pub(in super::super) fn new(bytes: [u8; 16]) -> Self {
            Self(bytes.into())
        }

        /// Returns the bytes with the bits of `bits` set.
        #[inline]
        pub(in super::super) fn with(self, bits: u8) -> Self {
            Self(self.0 | splat(bits))
        }

        /// Returns the mask of the bytes that are `byte`.
        #[inline]
        pub(in super::super) fn equal(self, byte: u8) -> u16 {
            mask(cmp_eq_mask_i8_m128i(self.0, splat(byte)))
        }

        /// Returns the mask of the bytes that are `byte` at most.
        #[inline]
        pub(in super::super) fn at_most(self, byte: u8) -> u16 {
            mask(cmp_eq_mask_i8_m128i(min_u8_m128i(self.0, splat(byte)), self.0))
        }
    }

    #[inline]
    fn splat(byte: u8) -> m128i {
        set_splat_i8_m128i(byte.cast_signed())
    }

    #[inline]
    fn mask(found: m128i) -> u16 {
        move_mask_i8_m128i(found)
            .to_le_bytes()
            .first_chunk()
            .copied()
            .map_or(0, u16::from_le_bytes)
    }
}

/// Words of eight bytes, on any processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    /// The highest bit of each byte.
    const HIGH: u64 = 0x8080_8080_8080_8080;

    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Lane([u64; 2]);

    impl Lane {
        #[inline]
        pub(in super::super) fn new(bytes: [u8; 16]) -> Self {
            let (words, _) = bytes.as_chunks();
            Self(std::array::from_fn(|index| {
                words.get(index).copied().map_or(0, u64::from_le_bytes)
            }))
        }

        /// Returns the bytes with the bits of `bits` set.
        #[inline]
        pub(in super::super) fn with(self, bits: u8) -> Self {
            Self(self.0.map(|word| word | splat(bits)))
        }

        /// Returns the mask of the bytes that are `byte`.
        #[inline]
        pub(in super::super) fn equal(self, byte: u8) -> u16 {
            Self(self.0.map(|word| word ^ splat(byte))).at_most(0)
        }

        /// Returns the mask of the bytes that are `byte`, which is below 128, at most.
        #[inline]
        pub(in super::super) fn at_most(self, byte: u8) -> u16 {
            let [low, high] = self.0.map(|word| {
                // The addition sets the highest bit of bytes that are greater, and never carries into the next one.
                let greater = (word & !HIGH) + splat(0x7F - byte);
                high_bits(!(greater | word) & HIGH)
            });
            low | high << 8
        }
    }

    #[inline]
    fn splat(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }

    /// Returns the highest bits of all bytes; no other bits are set in `word`.
    #[inline]
    fn high_bits(word: u64) -> u16 {
        // The bit of byte N is moved to bit 56 + N; the products never meet.
        u16::from((word >> 7).wrapping_mul(0x0102_0408_1020_4080).to_be_bytes()[0])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lane, words};

    proptest! {
        #[test]
        fn masks_have_the_bits_of_the_bytes(bytes: [u8; 16], byte in 0_u8..0x80, near in any::<[bool; 16]>()) {
            // Bytes close to the one that is searched are the ones that carries could confuse.
            let bytes: [u8; 16] = std::array::from_fn(|index| match near[index] {
                true => byte.wrapping_add(bytes[index] % 3).wrapping_sub(1),
                false => bytes[index],
            });
            let expected = |found: &dyn Fn(u8) -> bool| -> u16 {
                (0..16).filter(|index| found(bytes[*index])).map(|index| 1 << index).sum()
            };
            for with in [0, 0x20] {
                let equal = expected(&|found| found | with == byte);
                prop_assert_eq!(Lane::new(bytes).with(with).equal(byte), equal);
                prop_assert_eq!(words::Lane::new(bytes).with(with).equal(byte), equal);
            }
            let at_most = expected(&|found| found <= byte);
            prop_assert_eq!(Lane::new(bytes).at_most(byte), at_most);
            prop_assert_eq!(words::Lane::new(bytes).at_most(byte), at_most);
        }
    }
}
