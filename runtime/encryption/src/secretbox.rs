//! XSalsa20 and Poly1305 with a key of 32 bytes, as NaCl's secretbox has them: a nonce of 24 bytes, a tag, and the ciphertext.

use crypto_secretbox::XSalsa20Poly1305;
use crypto_secretbox::aead::{Aead as _, KeyInit as _};
use planesmith_store::TransformError;

use crate::random;

/// Bytes of a nonce.
const NONCE: usize = 24;

/// A key.
pub(crate) struct SecretboxKey(XSalsa20Poly1305);

impl SecretboxKey {
    /// Returns the key with these bytes; `None` if there are not 32.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        XSalsa20Poly1305::new_from_slice(key).ok().map(Self)
    }

    /// Appends `plain`, encrypted, to `out`.
    pub(crate) fn seal(&self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TransformError> {
        let nonce = random::bytes::<NONCE>()?;
        let sealed = self.0.encrypt((&nonce).into(), plain);
        out.extend_from_slice(&nonce);
        out.extend_from_slice(&sealed.map_err(|_| TransformError::new("the value is too long for secretbox"))?);
        Ok(())
    }

    /// The plain bytes of `stored`; `None` if it was encrypted with another key, or was changed.
    pub(crate) fn open(&self, stored: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = stored.split_first_chunk::<NONCE>()?;
        self.0.decrypt(nonce.into(), sealed).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_with_its_key_only() {
        let key = SecretboxKey::new(&[7; 32]).unwrap();
        let mut sealed = Vec::new();
        key.seal(b"plain", &mut sealed).unwrap();
        assert_eq!(sealed.len(), NONCE + 16 + 5);
        assert_eq!(key.open(&sealed).as_deref(), Some(&b"plain"[..]));
        assert_eq!(SecretboxKey::new(&[8; 32]).unwrap().open(&sealed), None);
        for changed in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[changed] ^= 1;
            assert_eq!(key.open(&damaged), None);
            assert_eq!(key.open(&sealed[..changed]), None);
        }
        assert!(SecretboxKey::new(&[7; 16]).is_none());
    }
}
