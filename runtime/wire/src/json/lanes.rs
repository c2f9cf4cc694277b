//! Positions of bytes in blocks of text, as masks: bit N is set for byte N.

use super::lane::Lane;

/// The number of bytes of text that are searched at once.
pub(super) const SHORT: usize = 32;
/// The number of bytes that [`Nesting`] passes at once.
pub(super) const BLOCK: usize = 64;

/// Returns the index of the first quote or backslash of `block`.
#[inline]
pub(super) fn quote_or_backslash(block: &[u8; SHORT]) -> Option<usize> {
    let [one, other] = lanes(block).map(|lane| u32::from(lane.equal(b'"') | lane.equal(b'\\')));
    let found = one | other << 16;
    (found != 0).then(|| found.trailing_zeros() as usize)
}

/// Follows the brackets outside of the texts of JSON, a block at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nesting {
    /// The number of open objects and arrays.
    open: u32,
    /// All bits are set if the block begins within a text.
    in_text: u64,
    /// The lowest bit is set if the first byte of the block is escaped.
    escaped: u64,
}

/// The position of the next end of an object or array, relative to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// All that was opened is closed before this index.
    Closed(usize),
    /// The block is passed, and something is open.
    Open,
    /// The block has white space, so it is not compact JSON.
    Spaced,
}

impl Nesting {
    /// Passes a block, the first one of which begins with a bracket.
    #[inline]
    pub(super) fn pass(&mut self, block: &[u8; BLOCK]) -> Passed {
        let mut masks = [0_u64; 5];
        for (index, lane) in lanes::<BLOCK, 4>(block).into_iter().enumerate() {
            // `[` and `]` are `{` and `}` without this bit.
            let bracket = lane.with(0x20);
            let found = [
                lane.equal(b'"'),
                lane.equal(b'\\'),
                bracket.equal(b'{'),
                bracket.equal(b'}'),
                lane.at_most(b' '),
            ];
            for (all, some) in masks.iter_mut().zip(found) {
                *all |= u64::from(some) << (16 * index);
            }
        }
        let [quotes, backslashes, opening, closing, spaces] = masks;
        let within = self.texts(quotes, backslashes);
        if spaces & !within != 0 {
            return Passed::Spaced;
        }
        self.brackets(opening & !within, closing & !within)
    }

    /// Returns the bytes within texts: those from an opening quote to the one before the closing quote.
    #[inline]
    fn texts(&mut self, quotes: u64, backslashes: u64) -> u64 {
        let escaped = self.escapes(backslashes);
        let mut within = quotes & !escaped;
        // Each bit becomes the parity of the quotes up to it.
        for shift in [1, 2, 4, 8, 16, 32] {
            within ^= within << shift;
        }
        within ^= self.in_text;
        self.in_text = (within.cast_signed() >> 63).cast_unsigned();
        within
    }

    /// Returns the bytes that a backslash escapes.
    #[inline]
    fn escapes(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        if backslashes == 0 {
            return std::mem::take(&mut self.escaped);
        }
        // In a row of backslashes the first, third and so on escape the next byte. The subtraction carries through a row,
        // so that its parity is that of the place where it began.
        let escaping = backslashes & !self.escaped;
        let odd = ((escaping << 1) | ODD).wrapping_sub(escaping) ^ ODD;
        let escaped = odd ^ (backslashes | self.escaped);
        self.escaped = (odd & backslashes) >> 63;
        escaped
    }

    #[inline]
    fn brackets(&mut self, opening: u64, closing: u64) -> Passed {
        // Empty objects, of which managed fields mostly consist, end where they begin. The first one may be the value.
        let empty = match self.open {
            0 => 0,
            _ => opening & (closing >> 1),
        };
        let (opening, closing) = (opening & !empty, closing & !(empty << 1));
        if self.open > closing.count_ones() {
            self.open += opening.count_ones();
            self.open -= closing.count_ones();
            return Passed::Open;
        }
        let mut rest = closing;
        let (mut passed, mut open) = (0, self.open);
        while rest != 0 {
            let at = rest.trailing_zeros();
            let before = opening & ((1 << at) - 1);
            open += (before & !passed).count_ones();
            passed = before;
            open = open.saturating_sub(1);
            if open == 0 {
                return Passed::Closed(at as usize + 1);
            }
            rest &= rest - 1;
        }
        self.open = open + (opening & !passed).count_ones();
        Passed::Open
    }
}

#[inline]
fn lanes<const BYTES: usize, const COUNT: usize>(block: &[u8; BYTES]) -> [Lane; COUNT] {
    let (chunks, _) = block.as_chunks();
    std::array::from_fn(|index| Lane::new(chunks.get(index).copied().unwrap_or_default()))
}
