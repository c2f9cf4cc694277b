//! Entries in less memory than their bytes: objects of one kind resemble each other.

mod dictionary;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub(crate) use self::dictionary::Dictionary;
use self::dictionary::Matcher;

/// Smaller objects gain little, and larger ones would take too long to read.
const SIZES: std::ops::Range<usize> = 64..(32 << 10);

/// The number of states without compression, so that small collections need no dictionary.
const FEW: u64 = 32;

/// The number of states on which two dictionaries are compared.
const COMPARED: u32 = 8;

/// The number of states of a thread that count as one.
const BATCH: u32 = 64;

/// The number of consecutive states with little in common with the dictionary, after which another one is tried.
const POOR: u32 = 64;

/// Of states that resemble neither of two dictionaries, one in this many is compressed, in case that others do.
const RARE: u64 = 16;

/// The number of former dictionaries that states still refer to, beyond which the current one stays: clients determine what states look
/// like, and each dictionary is as large as one of them.
const FORMER_LIMIT: usize = 16;

/// Compresses the states of one collection with a dictionary: an earlier state.
///
/// The dictionary is compared with a newer state after four times as many states as before, and when it no longer resembles the new
/// ones. A dictionary exists for as long as a state refers to it.
#[derive(Debug, Default)]
pub(crate) struct Compressor {
    choice: Mutex<Choice>,
}

#[derive(Debug, Default)]
struct Choice {
    current: Option<Arc<Matcher>>,
    comparison: Option<Comparison>,
    /// The dictionaries before the current one.
    former: Vec<Weak<Dictionary>>,
    /// The number of states so far.
    seen: u64,
    /// The number of consecutive states that were not worth compressing.
    poor: u32,
    /// True if one in [`RARE`] states is compressed.
    is_rare: bool,
}

#[derive(Debug)]
struct Comparison {
    challenger: Arc<Matcher>,
    left: u32,
    /// Bytes of the states that the current dictionary and the challenger have compressed.
    sizes: [usize; 2],
}

impl Compressor {
    /// Compresses many states, beside other threads.
    pub(crate) fn of_thread(&self) -> ThreadCompressor<'_> {
        ThreadCompressor {
            compressor: self,
            current: None,
            left: 0,
            scratch: Vec::new(),
        }
    }

    /// The compressed `bytes`, and the dictionary that reads them; `None` if that saves too little.
    pub(crate) fn compress(&self, bytes: &[u8]) -> Option<(Arc<Dictionary>, Box<[u8]>)> {
        if !SIZES.contains(&bytes.len()) {
            return None;
        }
        let (current, challenger) = self.choice().begin(bytes)?;
        let mut scratch = Vec::with_capacity(bytes.len() / 2 + 16);
        let compressed = current.compress_if_worth(bytes, &mut scratch);
        let size = compressed.as_ref().map_or(bytes.len(), |compressed| compressed.len());
        let compared = challenger.map(|challenger| {
            let other = challenger.compress(bytes, &mut scratch);
            (challenger, [size, other])
        });
        self.choice().note(compressed.is_none(), compared);
        Some((Arc::clone(current.dictionary()), compressed?))
    }

    fn choice(&self) -> MutexGuard<'_, Choice> {
        // Any choice is a valid one.
        self.choice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// States that a thread compresses. It has the lock for few of them, which stand for the others.
#[derive(Debug)]
pub(crate) struct ThreadCompressor<'a> {
    compressor: &'a Compressor,
    current: Option<Arc<Matcher>>,
    /// The number of states before the dictionary is chosen anew, unless one of them has little in common with it.
    left: u32,
    /// Memory for compressed bytes.
    scratch: Vec<u8>,
}

impl ThreadCompressor<'_> {
    /// As [`Compressor::compress`].
    pub(crate) fn compress(&mut self, bytes: &[u8]) -> Option<(Arc<Dictionary>, Box<[u8]>)> {
        if !SIZES.contains(&bytes.len()) {
            return None;
        }
        if let Some(current) = self.current.as_ref().filter(|_| self.left > 0) {
            let compressed = current.compress_if_worth(bytes, &mut self.scratch);
            self.left = if compressed.is_some() { self.left - 1 } else { 0 };
            return Some((Arc::clone(current.dictionary()), compressed?));
        }
        let compressed = self.compressor.compress(bytes);
        if compressed.is_some() {
            self.left = BATCH;
            self.current.clone_from(&self.compressor.choice().current);
        }
        compressed
    }
}

impl Choice {
    /// The dictionaries for `bytes`: the current one, and one that is compared with it.
    fn begin(&mut self, bytes: &[u8]) -> Option<(Arc<Matcher>, Option<Arc<Matcher>>)> {
        self.seen += 1;
        if self.seen < FEW || (self.is_rare && !self.seen.is_multiple_of(RARE)) {
            return None;
        }
        let matcher = || Arc::new(Matcher::new(bytes));
        let current = Arc::clone(self.current.get_or_insert_with(matcher));
        let is_due = self.poor >= POOR || (self.seen.is_power_of_two() && self.seen.trailing_zeros().is_multiple_of(2));
        if is_due && self.comparison.is_none() && self.may_change() {
            self.poor = 0;
            self.comparison = Some(Comparison {
                challenger: matcher(),
                left: COMPARED,
                sizes: [0, 0],
            });
            return Some((current, None));
        }
        let challenger = self
            .comparison
            .as_ref()
            .map(|comparison| Arc::clone(&comparison.challenger));
        Some((current, challenger))
    }

    /// True if few former dictionaries are in use.
    fn may_change(&mut self) -> bool {
        self.former.retain(|dictionary| dictionary.strong_count() > 0);
        self.former.len() < FORMER_LIMIT
    }

    /// Records a state, and its sizes with the compared dictionaries.
    fn note(&mut self, is_poor: bool, compared: Option<(Arc<Matcher>, [usize; 2])>) {
        self.poor = if is_poor { self.poor + 1 } else { 0 };
        self.is_rare &= is_poor;
        let Some((comparison, (challenger, sizes))) = self.comparison.as_mut().zip(compared) else {
            return;
        };
        // Another thread may have ended that comparison, and begun this one.
        if !Arc::ptr_eq(&comparison.challenger, &challenger) {
            return;
        }
        for (sum, size) in comparison.sizes.iter_mut().zip(sizes) {
            *sum += size;
        }
        comparison.left = comparison.left.saturating_sub(1);
        if comparison.left == 0 {
            let [current, challenger] = comparison.sizes;
            // Equally good dictionaries would only take memory.
            let is_better = challenger < current / 8 * 7;
            self.is_rare = is_poor && !is_better;
            let challenger = self.comparison.take().map(|comparison| comparison.challenger);
            if is_better && let Some(current) = std::mem::replace(&mut self.current, challenger) {
                self.former.push(Arc::downgrade(current.dictionary()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(number: usize, text: &str) -> Vec<u8> {
        format!(r#"{{"kind":"Thing","metadata":{{"name":"thing-{number}","namespace":"default"}},"text":"{text}"}}"#)
            .into()
    }

    fn is_of((dictionary, compressed): &(Arc<Dictionary>, Box<[u8]>), bytes: &[u8]) -> bool {
        let mut expanded = Vec::new();
        dictionary.expand(compressed, bytes.len(), 0, &mut expanded);
        expanded == bytes
    }

    #[test]
    fn states_of_a_large_collection_share_what_they_have_in_common() {
        let compressor = Compressor::default();
        for number in 1..100 {
            let bytes = object(number, &"abcdefghij".repeat(20));
            let compressed = compressor.compress(&bytes);
            assert_eq!(
                compressed.is_some(),
                number >= 32,
                "a small collection needs no dictionary"
            );
            if let Some(compressed) = compressed {
                assert!(is_of(&compressed, &bytes));
                assert!(
                    compressed.1.len() < 40,
                    "{} bytes of {}",
                    compressed.1.len(),
                    bytes.len()
                );
            }
        }
    }

    #[test]
    fn a_dictionary_follows_what_states_look_like() {
        let compressor = Compressor::default();
        let text = |shape: usize| format!("{shape:x}").repeat(300);
        let mut sizes = Vec::new();
        // The second half begins behind a comparison, and ends before the next one that depends on the number of states.
        for number in 0..2200 {
            let bytes = object(number, &text(number / 1100 * 0x1234 + 0xabc));
            sizes.push(compressor.compress(&bytes).map_or(bytes.len(), |compressed| {
                assert!(is_of(&compressed, &bytes));
                compressed.1.len()
            }));
        }
        assert!(
            sizes[1099] < 60 && sizes[2199] < 60,
            "{} and {}",
            sizes[1099],
            sizes[2199]
        );
        assert!(sizes[1100] > 600, "nothing in common but {} bytes", sizes[1100]);
    }

    #[test]
    fn a_dictionary_stays_while_others_are_not_better() {
        let compressor = Compressor::default();
        let mut threads = compressor.of_thread();
        let mut dictionary: Option<Arc<Dictionary>> = None;
        for number in 0..1200 {
            let bytes = object(number, &"abcdefghij".repeat(20));
            let compressed = match number % 2 {
                0 => compressor.compress(&bytes),
                _ => threads.compress(&bytes),
            };
            if let Some(compressed) = compressed {
                assert!(is_of(&compressed, &bytes));
                assert!(Arc::ptr_eq(
                    dictionary.get_or_insert(Arc::clone(&compressed.0)),
                    &compressed.0
                ));
            }
        }
        assert!(dictionary.is_some());
    }

    #[test]
    fn states_without_anything_in_common_stay_as_they_are() {
        let compressor = Compressor::default();
        let (mut state, mut tried) = (1_u64, 0);
        for _ in 0..3200 {
            let mut next = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 56) as u8
            };
            let bytes: Vec<u8> = (0..500).map(|_| next()).collect();
            assert!(
                compressor
                    .compress(&bytes)
                    .is_none_or(|compressed| is_of(&compressed, &bytes))
            );
            tried += u32::from(!compressor.choice().is_rare);
        }
        assert!(tried < 300, "{tried} states in a row are compressed in vain");
        let mut compress = |number| compressor.compress(&object(number, "abc")).is_some();
        let found = (0..3200).position(&mut compress);
        assert!(found.is_some(), "objects that resemble each other are found later");
        // The dictionary resembles objects again.
        compressor.choice().is_rare = true;
        let again: Vec<bool> = (0..32).map(compress).collect();
        assert_eq!(
            again[16..],
            [true; 16],
            "after one of {RARE} states, all are compressed again"
        );
        assert!(
            compressor.compress(&vec![b'x'; 64 << 10]).is_none(),
            "large states are read as they are"
        );
    }

    #[test]
    fn the_number_of_dictionaries_in_use_is_limited() {
        let compressor = Compressor::default();
        let mut kept = Vec::new();
        let mut dictionaries = Vec::new();
        for shape in 0..40 {
            for number in 0..200 {
                let compressed =
                    compressor.compress(&object(number, &format!("{:x}", shape * 0x1357 + 0xabc).repeat(300)));
                let Some(compressed) = compressed else { continue };
                if dictionaries.iter().all(|known| !Arc::ptr_eq(known, &compressed.0)) {
                    dictionaries.push(Arc::clone(&compressed.0));
                    kept.push(compressed);
                }
            }
        }
        assert_eq!(
            dictionaries.len(),
            FORMER_LIMIT + 1,
            "the former ones, and the current one"
        );
    }
}
