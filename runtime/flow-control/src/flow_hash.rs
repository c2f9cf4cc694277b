//! The hash of a flow.

use ring::digest::{Context, SHA256};

/// Returns the hash of the flow of requests that a flow schema matched and that have the same distinguisher, such as the name
/// of their user. It selects the queues of the flow.
#[must_use]
pub fn flow_hash(schema: &str, distinguisher: &str) -> u64 {
    let mut context = Context::new(&SHA256);
    context.update(schema.as_bytes());
    context.update(&[0]);
    context.update(distinguisher.as_bytes());
    let digest = context.finish();
    let bytes = digest.as_ref().first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_start_of_the_digest() {
        // The first bytes of the SHA-256 digest of "catch-all", a zero byte and "ann".
        let digest = ring::digest::digest(&SHA256, b"catch-all\0ann");
        let expected = u64::from_le_bytes(digest.as_ref()[..8].try_into().unwrap());
        assert_eq!(flow_hash("catch-all", "ann"), expected);
        assert_ne!(flow_hash("catch-all", "bob"), expected);
        assert_ne!(flow_hash("catch-al", "lann"), expected);
    }
}
