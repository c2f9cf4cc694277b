//! Texts about one body, up to a bound.

use planesmith_machinery::field_error::MAX_SIZE;

/// More texts are dropped.
const MAX_TEXTS: usize = 100;

/// Messages about one body. A client can cause any number of them, of any length; at most a hundred are kept, and not more
/// than a megabyte.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    texts: Vec<String>,
    /// Bytes of `texts`.
    size: usize,
}

impl Bounded {
    fn is_full(&self) -> bool {
        self.texts.len() >= MAX_TEXTS || self.size > MAX_SIZE
    }

    /// Adds a text, which is made only if it is kept.
    pub(super) fn push(&mut self, text: impl FnOnce() -> String) {
        if !self.is_full() {
            self.texts.push(text());
            self.size += self.texts.last().map_or(0, String::len);
        }
    }

    /// The texts, sorted.
    pub(super) fn sorted(mut self) -> Vec<String> {
        self.texts.sort_unstable();
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_size_are_bounded() {
        let mut few = Bounded::default();
        for _ in 0..1000 {
            few.push(|| "k".repeat(400 << 10));
        }
        assert_eq!(few.sorted().len(), 3);
        let mut many = Bounded::default();
        for number in 0..1000 {
            many.push(|| number.to_string());
        }
        assert_eq!(many.sorted().len(), 100);
    }
}
