//! Random numbers.

use std::hash::{BuildHasher, Hasher};

/// An unpredictable number, so that clients cannot store bytes that look like a frame.
pub(crate) fn number() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}
