//! AES-GCM with a key of 16, 24 or 32 bytes: a nonce of 12 bytes, the ciphertext, and a tag of 16 bytes.

use ::aes_gcm::AesGcm;
use ::aes_gcm::aead::consts::U12;
use ::aes_gcm::aead::{AeadInPlace as _, KeyInit as _};
use aes::Aes192;
use planesmith_store::TransformError;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::random;

/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;
/// Bytes of a tag.
const TAG: usize = 16;

/// A key.
pub(crate) struct GcmKey(Cipher);

enum Cipher {
    Ring(Box<LessSafeKey>),
    /// ring has no keys of 24 bytes.
    Aes192(Box<AesGcm<Aes192, U12>>),
}

impl GcmKey {
    /// Returns the key with these bytes; `None` if there are not 16, 24 or 32.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => {
                let cipher = AesGcm::<Aes192, U12>::new_from_slice(key).ok()?;
                return Some(Self(Cipher::Aes192(Box::new(cipher))));
            }
            32 => &AES_256_GCM,
            _ => return None,
        };
        let key = UnboundKey::new(algorithm, key).ok()?;
        Some(Self(Cipher::Ring(Box::new(LessSafeKey::new(key)))))
    }

    /// Appends `plain`, encrypted and bound to `context`, to `out`.
    pub(crate) fn seal(&self, context: &[u8], plain: &[u8], out: &mut Vec<u8>) -> Result<(), TransformError> {
        let nonce = random::bytes::<NONCE>()?;
        out.reserve(NONCE + plain.len() + TAG);
        out.extend_from_slice(&nonce);
        let start = out.len();
        out.extend_from_slice(plain);
        let too_long = || TransformError::new("the value is too long for AES-GCM");
        match &self.0 {
            Cipher::Ring(key) => {
                let nonce = Nonce::assume_unique_for_key(nonce);
                let tag = key.seal_in_place_separate_tag(nonce, Aad::from(context), &mut out[start..]);
                out.extend_from_slice(tag.map_err(|_| too_long())?.as_ref());
            }
            Cipher::Aes192(key) => {
                let tag = key.encrypt_in_place_detached((&nonce).into(), context, &mut out[start..]);
                out.extend_from_slice(&tag.map_err(|_| too_long())?);
            }
        }
        Ok(())
    }

    /// The plain bytes of `stored`; `None` if it was encrypted with another key, in another context, or was changed.
    pub(crate) fn open(&self, context: &[u8], stored: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = stored.split_first_chunk::<NONCE>()?;
        let length = sealed.len().checked_sub(TAG)?;
        let mut plain = sealed.to_vec();
        match &self.0 {
            Cipher::Ring(key) => {
                let nonce = Nonce::assume_unique_for_key(*nonce);
                key.open_in_place(nonce, Aad::from(context), &mut plain).ok()?;
            }
            Cipher::Aes192(key) => {
                let (content, tag) = plain.split_at_mut(length);
                let tag: [u8; TAG] = (*tag).try_into().ok()?;
                let (nonce, tag) = (nonce.into(), (&tag).into());
                key.decrypt_in_place_detached(nonce, context, content, tag).ok()?;
            }
        }
        plain.truncate(length);
        Some(plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_with_its_key_in_its_context_only() {
        for length in [16, 24, 32] {
            let key = GcmKey::new(&vec![7; length]).unwrap();
            let mut sealed = Vec::new();
            key.seal(b"/a", b"plain", &mut sealed).unwrap();
            assert_eq!(sealed.len(), NONCE + 5 + TAG);
            assert_eq!(key.open(b"/a", &sealed).as_deref(), Some(&b"plain"[..]));
            assert_eq!(key.open(b"/b", &sealed), None);
            assert_eq!(GcmKey::new(&vec![8; length]).unwrap().open(b"/a", &sealed), None);
            for changed in 0..sealed.len() {
                let mut damaged = sealed.clone();
                damaged[changed] ^= 1;
                assert_eq!(key.open(b"/a", &damaged), None);
                assert_eq!(key.open(b"/a", &sealed[..changed]), None);
            }
        }
        assert!(GcmKey::new(&[7; 20]).is_none());
    }
}
