//! The order in which go-yaml writes keys: numbers inside by value, letters after everything else.

use std::cmp::Ordering;

/// Sorts by key.
///
/// The order is not total for every odd mix of digits, which the sorts of the standard library may answer with a
/// panic; merging always ends.
pub(super) fn sort<T: Clone>(entries: &mut Vec<(&str, T)>) {
    if entries.len() < 2 {
        return;
    }
    let mut right = entries.split_off(entries.len() / 2);
    let mut left = std::mem::take(entries);
    sort(&mut left);
    sort(&mut right);
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    while let (Some(first), Some(second)) = (left.peek(), right.peek()) {
        let next = if is_less(second.0, first.0) {
            right.next()
        } else {
            left.next()
        };
        entries.extend(next);
    }
    entries.extend(left);
    entries.extend(right);
}

fn is_less(left: &str, right: &str) -> bool {
    compare(left, right) == Ordering::Less
}

fn compare(left: &str, right: &str) -> Ordering {
    let mut before = 0;
    let mut characters = left.chars().zip(right.chars());
    let Some((a, b)) = characters.find(|(a, b)| {
        before += a.len_utf8();
        a != b
    }) else {
        return left.len().cmp(&right.len());
    };
    match (a.is_alphabetic(), b.is_alphabetic()) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    let at = before - a.len_utf8();
    // A zero inside a number that has begun is a digit like others, not the start of one.
    let inside = (a == '0' || b == '0')
        && left[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .any(|digit| digit != b'0');
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        digits.fold((i64::from(inside), 0_usize), |(value, length), digit| {
            (value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
        })
    };
    number(&left[at..]).cmp(&number(&right[at..])).then(a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::sort;

    #[test]
    fn keys_are_in_natural_order() {
        let mut keys: Vec<(&str, ())> = [
            "b", "a10", "a2", "a", "A", "1", "10", "9", "f:x", ".", "k:{", "a-b", "ab", "a01", "a1",
        ]
        .iter()
        .map(|key| (*key, ()))
        .collect();
        sort(&mut keys);
        let keys: Vec<&str> = keys.into_iter().map(|(key, ())| key).collect();
        assert_eq!(
            keys,
            [
                ".", "1", "9", "10", "A", "a", "a-b", "a1", "a01", "a2", "a10", "ab", "b", "f:x", "k:{"
            ]
        );
    }
}
