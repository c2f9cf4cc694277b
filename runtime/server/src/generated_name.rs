//! Names that the server makes up.

use planesmith_machinery::names;

/// What generated names end with: five of these, which spell no words.
const SUFFIX_LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH: usize = 5;

/// A name that starts with `base`, or as much of it as leaves room for the random end.
#[must_use]
pub fn generated_name(base: &str) -> String {
    let mut name = names::generated_base(base).to_owned();
    for _ in 0..SUFFIX_LENGTH {
        name.push(char::from(SUFFIX_LETTERS[fastrand::usize(..SUFFIX_LETTERS.len())]));
    }
    name
}
