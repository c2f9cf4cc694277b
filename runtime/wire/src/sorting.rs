//! Stable sorting with one copy of the algorithm for all types.
//!
//! A sort of the standard library is compiled for each type and each order, some five kilobytes each time: a tenth of a small
//! server's code. With thousands of elements it is faster, so long lists use it.

use std::cmp::Ordering;

/// Sorts `items`; equal ones keep their order.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    if items.is_sorted_by(|left, right| compare(left, right).is_le()) {
        return;
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut order, &mut |left, right| compare(&items[left], &items[right]));
    // Each place receives the element that belongs there, along the cycles of the permutation.
    for start in 0..items.len() {
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut order[place], place);
            if from == start {
                break;
            }
            items.swap(place, from);
            place = from;
        }
    }
}

/// Sorts `items` by the keys that `key` returns; items with equal keys keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |left, right| key(left).cmp(&key(right)));
}

fn sort_places(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|left, right| compare(*left, *right));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_the_standard_library(items: Vec<u8>) {
            let mut sorted: Vec<(usize, u8)> = items.iter().map(|item| item % 16).enumerate().collect();
            let mut expected = sorted.clone();
            sort_by(&mut sorted, |left, right| left.1.cmp(&right.1));
            expected.sort_by_key(|item| item.1);
            prop_assert_eq!(&sorted, &expected);
            sort_by_key(&mut sorted, |item| std::cmp::Reverse(item.1));
            expected.sort_by_key(|item| std::cmp::Reverse(item.1));
            prop_assert_eq!(sorted, expected);
        }
    }
}
