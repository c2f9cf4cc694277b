//! The hashes of names.

use std::hash::{BuildHasher as _, RandomState};

/// Hashes names by folded multiplications with random secrets: a decision hashes several names, which takes a few nanoseconds each.
/// Clients cannot choose names with equal hashes, and equal hashes would only make lookups slower.
#[derive(Clone, Debug)]
pub(crate) struct NameHasher {
    secrets: [u64; 3],
}

impl NameHasher {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        Self {
            secrets: [0, 1, 2].map(|number: u8| random.hash_one(number)),
        }
    }

    /// Returns the hash of two names and a mark.
    pub(crate) fn hash(&self, names: [&str; 2], mark: bool) -> u64 {
        let [first, _, last] = self.secrets;
        let start = first ^ u64::from(mark);
        let state = names.into_iter().fold(start, |state, name| self.add(state, name));
        fold(state, last)
    }

    /// Adds a name with its length, so that it is not confused with the start of the next one.
    fn add(&self, state: u64, name: &str) -> u64 {
        let [_, secret, last] = self.secrets;
        let (blocks, rest) = name.as_bytes().as_chunks::<16>();
        let mut state = blocks.iter().fold(state, |state, block| mix(state, block, secret));
        let mut padded = [0; 16];
        padded[..rest.len()].copy_from_slice(rest);
        state = mix(state, &padded, secret);
        fold(state ^ name.len() as u64, last)
    }
}

fn mix(state: u64, block: &[u8; 16], secret: u64) -> u64 {
    let (low, high) = block.split_at(8);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    fold(word(low) ^ secret, word(high) ^ state)
}

/// Both halves of the product, mixed.
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the product")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn hashes_depend_on_each_part_and_on_the_secrets() {
        let hasher = NameHasher::new();
        let long = "system:serviceaccounts:kube-system";
        let mut seen = HashSet::new();
        for names in [
            ["", ""],
            ["a", ""],
            ["", "a"],
            ["ab", "c"],
            ["a", "bc"],
            ["", long],
            [long, ""],
            ["", "a\0"],
        ] {
            for mark in [false, true] {
                assert!(seen.insert(hasher.hash(names, mark)), "{names:?} {mark}");
                assert_eq!(hasher.clone().hash(names, mark), hasher.hash(names, mark));
            }
        }
        assert_ne!(
            NameHasher::new().hash(["a", "b"], false),
            hasher.hash(["a", "b"], false)
        );
    }

    #[test]
    fn many_names_have_different_hashes_and_shards() {
        let hasher = NameHasher::new();
        let hashes: Vec<u64> = (0..20_000)
            .map(|number| hasher.hash(["n", &format!("user-{number}")], false))
            .collect();
        let different: HashSet<u64> = hashes.iter().copied().collect();
        assert_eq!(different.len(), hashes.len());
        for part in [
            |hash: u64| hash & 127,
            |hash: u64| (hash >> 32) & 127,
            |hash: u64| hash >> 57,
        ] {
            let mut counts = [0_u32; 128];
            hashes.iter().for_each(|hash| counts[part(*hash) as usize] += 1);
            // 156 are expected, with a standard deviation of 12.
            assert!(counts.iter().all(|count| (80..240).contains(count)), "{counts:?}");
        }
    }
}
