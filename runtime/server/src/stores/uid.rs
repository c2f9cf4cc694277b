//! The identities of objects.

/// Makes identities.
pub trait Uids: Send + Sync {
    /// A new one, never given before.
    fn next(&self) -> String;
}

/// Random UUIDs, from a generator that is seeded by the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomUids;

impl Uids for RandomUids {
    fn next(&self) -> String {
        let bytes = fastrand::u128(..).to_ne_bytes();
        uuid::Builder::from_random_bytes(bytes)
            .into_uuid()
            .hyphenated()
            .to_string()
    }
}
