//! UIDs of objects.

use crate::random;

/// A source of UIDs.
pub trait Uids: Send + Sync {
    /// A new UID that was never returned before.
    fn next(&self) -> String;
}

/// Random UUIDs from the system's generator: the UID of an object to be created cannot be predicted.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomUids;

impl Uids for RandomUids {
    fn next(&self) -> String {
        random::uuid().hyphenated().to_string()
    }
}
