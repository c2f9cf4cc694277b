//! Shuffle sharding: each flow has a few of the queues of its level.

/// Cards of the largest hand. A hand has at most 60 bits of entropy, so that no valid one is larger.
const LARGEST_HAND: usize = 32;

/// Deals hands of different cards from a deck, as a function of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dealer {
    deck: u32,
    hand: u32,
}

impl Dealer {
    /// Deals `hand` of `deck` cards. A hand that is too large for the deck has all of it.
    #[must_use]
    pub fn new(deck: u32, hand: u32) -> Self {
        let deck = deck.max(1);
        Self {
            deck,
            hand: hand.clamp(1, deck.min(32)),
        }
    }

    /// Number of cards in the deck.
    #[must_use]
    pub fn deck(&self) -> u32 {
        self.deck
    }

    /// Number of cards in a hand.
    #[must_use]
    pub fn hand(&self) -> u32 {
        self.hand
    }

    /// Calls `take` with each card of the hand of `hash`, in order.
    pub fn deal(&self, hash: u64, mut take: impl FnMut(u32)) {
        let mut remainders = [0_u32; LARGEST_HAND];
        let mut rest = hash;
        for dealt in 0..self.hand as usize {
            // At least one card is left, because a hand is no larger than the deck.
            let left = u64::from(self.deck) - dealt as u64;
            let remainder = u32::try_from(rest % left).unwrap_or_default();
            rest /= left;
            // Each card that was dealt before shifts the ones from it on.
            let earlier = remainders[..dealt].iter().rev();
            let card = earlier.fold(remainder, |card, earlier| card + u32::from(*earlier <= card));
            remainders[dealt] = remainder;
            take(card);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hand(deck: u32, size: u32, hash: u64) -> Vec<u32> {
        let mut cards = Vec::new();
        Dealer::new(deck, size).deal(hash, |card| cards.push(card));
        cards
    }

    #[test]
    fn cards_are_remainders_shifted_by_earlier_ones() {
        assert_eq!(hand(128, 6, 0), [0, 1, 2, 3, 4, 5]);
        // 5, then 5 of the rest, which is 6.
        assert_eq!(hand(10, 2, 5 + 10 * 5), [5, 6]);
        assert_eq!(hand(10, 2, 5 + 10 * 4), [5, 4]);
        assert_eq!(hand(4, 9, u64::MAX).len(), 4);
    }

    proptest! {
        #[test]
        fn cards_of_a_hand_differ(deck in 1_u32..300, size in 1_u32..20, hash: u64) {
            let mut cards = hand(deck, size, hash);
            prop_assert!(cards.iter().all(|card| *card < deck));
            let dealt = cards.len();
            cards.sort_unstable();
            cards.dedup();
            prop_assert_eq!(cards.len(), dealt);
        }
    }
}
