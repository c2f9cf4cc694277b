//! Shuffle sharding: each flow has a few of the queues of its level.

/// Deals hands of different cards from a deck, as a function of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dealer {
    deck: u32,
    hand: u32,
}

impl Dealer {
    /// Cards of the largest hand. A hand has at most 60 bits of entropy, so that no valid one is larger.
    pub(crate) const LARGEST_HAND: u32 = 32;

    /// Deals `hand` of `deck` cards. A hand that is too large for the deck has all of it.
    pub(crate) fn new(deck: u32, hand: u32) -> Self {
        let deck = deck.max(1);
        Self {
            deck,
            hand: hand.clamp(1, deck.min(Self::LARGEST_HAND)),
        }
    }

    /// Number of cards in the deck.
    pub(crate) fn deck(&self) -> u32 {
        self.deck
    }

    /// Number of cards in a hand.
    pub(crate) fn hand(&self) -> u32 {
        self.hand
    }

    /// Calls `take` with each card of the hand of `hash`, in order.
    pub(crate) fn deal(&self, hash: u64, take: impl FnMut(u32)) {
        self.deal_cards(self.hand, hash, take);
    }

    /// The card at `place` in the hand of `hash`.
    pub(crate) fn card(&self, place: u32, hash: u64) -> u32 {
        let mut last = 0;
        self.deal_cards(place.min(self.hand - 1) + 1, hash, |card| last = card);
        last
    }

    fn deal_cards(&self, count: u32, hash: u64, mut take: impl FnMut(u32)) {
        let mut remainders = [0_u32; Self::LARGEST_HAND as usize];
        let mut rest = hash;
        for dealt in 0..count as usize {
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
            let dealer = Dealer::new(deck, size);
            let single: Vec<u32> = (0..dealer.hand()).map(|place| dealer.card(place, hash)).collect();
            prop_assert_eq!(&single, &cards);
            prop_assert!(cards.iter().all(|card| *card < deck));
            let dealt = cards.len();
            cards.sort_unstable();
            cards.dedup();
            prop_assert_eq!(cards.len(), dealt);
        }
    }
}
