//! Random bytes for keys, nonces and initialization vectors.

use planesmith_store::TransformError;
use ring::rand::{SecureRandom as _, SystemRandom};

/// Returns `N` random bytes.
///
/// # Errors
///
/// The operating system has none.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], TransformError> {
    let mut bytes = [0; N];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(TransformError::new("the operating system has no random bytes")),
    }
}
