//! The objects of the torture: each says which write it is, and each byte follows from that.

use planesmith_store::conformance;
use planesmith_store::{Draft, Entry, Revision};

use crate::record::State;

/// The seed of the parts that objects have in common.
const COMMON: u64 = u64::MAX;

/// The word of an object whose bytes are not those that were written.
pub const DAMAGED: &str = "damaged";

/// The name of the object that the call `id` writes, with `length` bytes of content.
#[must_use]
pub fn name(id: u64, length: usize) -> String {
    format!("{id}-{length}")
}

/// The draft of the object `word`.
#[must_use]
pub fn draft(word: &str) -> Draft {
    conformance::draft(&content(word))
}

/// The state that `entry` shows; its word is [`DAMAGED`] if its bytes are not those of the write.
#[must_use]
pub fn state(prefix: &str, entry: &Entry) -> State {
    let name = entry.key().strip_prefix(prefix).unwrap_or(entry.key());
    State {
        name: name.to_owned(),
        word: word(&entry.bytes(), entry.revision()).unwrap_or_else(|| DAMAGED.to_owned()),
        revision: entry.revision().0,
    }
}

fn word(bytes: &[u8], revision: Revision) -> Option<String> {
    let found = std::str::from_utf8(bytes).ok()?;
    let word = found.rsplit(' ').next()?.split('.').next()?;
    (found == conformance::text(revision, &content(word))).then(|| word.to_owned())
}

/// The text of the object: letters that follow from the word, so that a block in the wrong place is noticed. Most objects have every other
/// part in common, as those of a kind do.
#[must_use]
pub fn content(word: &str) -> String {
    let (id, length) = word.split_once('-').unwrap_or_default();
    let (id, length): (u64, usize) = (id.parse().unwrap_or_default(), length.parse().unwrap_or_default());
    let letters = |seed: u64| {
        let mut random = fastrand::Rng::with_seed(seed);
        std::iter::repeat_with(move || random.alphanumeric()).take(length)
    };
    let is_shared = |place: usize| id % 4 != 0 && place % 64 >= 20;
    let both = letters(id).zip(letters(COMMON)).enumerate();
    let content: String = both
        .map(|(place, (own, common))| if is_shared(place) { common } else { own })
        .collect();
    format!("{word}.{content}")
}
