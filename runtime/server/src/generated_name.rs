//! Names that the server generates.

use planesmith_machinery::names;

/// Letters of the five-letter suffix of generated names; they spell no words.
const SUFFIX_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;

/// A name that starts with `base`, cut so that the random suffix fits.
#[must_use]
pub fn generated_name(base: &str) -> String {
    let mut name = names::generated_base(base).to_owned();
    for _ in 0..SUFFIX_LENGTH {
        name.push(char::from(SUFFIX_LETTERS[fastrand::usize(..SUFFIX_LETTERS.len())]));
    }
    name
}
