//! Unpredictable random numbers.

use std::cell::RefCell;

use ring::rand::{SecureRandom as _, SystemRandom};
use uuid::Uuid;

/// Bytes of a UUID.
const LENGTH: usize = 16;

/// Number of UUIDs whose bytes are read from the system at once: a system call for each would be noticeable in small
/// requests.
const BATCH: usize = 64;

/// Random bytes from the system that are not used yet.
struct Unused {
    bytes: [u8; LENGTH * BATCH],
    left: usize,
}

thread_local! {
    static UNUSED: RefCell<Unused> = const { RefCell::new(Unused { bytes: [0; LENGTH * BATCH], left: 0 }) };
}

/// A random UUID (version 4) from the system's generator.
///
/// # Panics
///
/// The system has no random numbers.
pub(crate) fn uuid() -> Uuid {
    UNUSED.with_borrow_mut(|unused| {
        if unused.left == 0 {
            let filled = SystemRandom::new().fill(&mut unused.bytes);
            filled.expect("the system has random numbers");
            unused.left = BATCH;
        }
        unused.left -= 1;
        let start = unused.left * LENGTH;
        let mut bytes = [0; LENGTH];
        bytes.copy_from_slice(&unused.bytes[start..start + LENGTH]);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn uuids_are_random_and_differ() {
        let all: HashSet<Uuid> = (0..10 * BATCH).map(|_| uuid()).collect();
        assert_eq!(all.len(), 10 * BATCH);
        assert!(all.iter().all(|one| one.get_version_num() == 4));
    }

    #[test]
    fn a_seed_does_not_tell_what_comes() {
        fastrand::seed(7);
        let first = uuid();
        fastrand::seed(7);
        assert_ne!(uuid(), first);
    }
}
