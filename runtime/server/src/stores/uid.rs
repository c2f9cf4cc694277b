//! The identities of objects.

use crate::random;

/// Makes identities.
pub trait Uids: Send + Sync {
    /// A new one, never given before.
    fn next(&self) -> String;
}

/// Random UUIDs from the system's generator: nobody can foresee the identity of an object that is still to be created.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomUids;

impl Uids for RandomUids {
    fn next(&self) -> String {
        random::uuid().hyphenated().to_string()
    }
}
