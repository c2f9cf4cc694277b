//! AES-CBC with a key of 16, 24 or 32 bytes: an initialization vector of 16 bytes, and the padded ciphertext. Nothing protects it
//! against changes.

use aes::{Aes128, Aes192, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut as _, BlockEncryptMut as _, KeyIvInit as _};
use cbc::{Decryptor, Encryptor};
use planesmith_store::TransformError;

use crate::random;

/// Bytes of a block, and of an initialization vector.
const BLOCK: usize = 16;

/// A key.
pub(crate) enum CbcKey {
    Aes128([u8; 16]),
    Aes192([u8; 24]),
    Aes256([u8; 32]),
}

impl CbcKey {
    /// Returns the key with these bytes; `None` if there are not 16, 24 or 32.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Some(Self::Aes128(key.try_into().ok()?)),
            24 => Some(Self::Aes192(key.try_into().ok()?)),
            32 => Some(Self::Aes256(key.try_into().ok()?)),
            _ => None,
        }
    }

    /// Appends `plain`, encrypted, to `out`.
    pub(crate) fn seal(&self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), TransformError> {
        let iv = random::bytes::<BLOCK>()?;
        out.extend_from_slice(&iv);
        let sealed = match self {
            Self::Aes128(key) => {
                Encryptor::<Aes128>::new(key.into(), &iv.into()).encrypt_padded_vec_mut::<Pkcs7>(plain)
            }
            Self::Aes192(key) => {
                Encryptor::<Aes192>::new(key.into(), &iv.into()).encrypt_padded_vec_mut::<Pkcs7>(plain)
            }
            Self::Aes256(key) => {
                Encryptor::<Aes256>::new(key.into(), &iv.into()).encrypt_padded_vec_mut::<Pkcs7>(plain)
            }
        };
        out.extend_from_slice(&sealed);
        Ok(())
    }

    /// The plain bytes of `stored`; `None` if its padding shows that it was encrypted with another key, or was changed.
    pub(crate) fn open(&self, stored: &[u8]) -> Option<Vec<u8>> {
        let (iv, sealed) = stored.split_first_chunk::<BLOCK>()?;
        if sealed.is_empty() {
            return None;
        }
        match self {
            Self::Aes128(key) => {
                Decryptor::<Aes128>::new(key.into(), iv.into()).decrypt_padded_vec_mut::<Pkcs7>(sealed)
            }
            Self::Aes192(key) => {
                Decryptor::<Aes192>::new(key.into(), iv.into()).decrypt_padded_vec_mut::<Pkcs7>(sealed)
            }
            Self::Aes256(key) => {
                Decryptor::<Aes256>::new(key.into(), iv.into()).decrypt_padded_vec_mut::<Pkcs7>(sealed)
            }
        }
        .ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_any_length_is_read_with_its_key() {
        for length in [16, 24, 32] {
            let key = CbcKey::new(&vec![7; length]).unwrap();
            for plain in [&b""[..], b"plain", &[5; 16], &[6; 100]] {
                let mut sealed = Vec::new();
                key.seal(plain, &mut sealed).unwrap();
                assert_eq!(sealed.len() % BLOCK, 0);
                assert_eq!(key.open(&sealed).as_deref(), Some(plain));
                assert_ne!(
                    CbcKey::new(&vec![8; length]).unwrap().open(&sealed).as_deref(),
                    Some(plain)
                );
                assert_eq!(key.open(&sealed[..sealed.len() - 1]), None);
            }
        }
        let key = CbcKey::new(&[7; 16]).unwrap();
        assert_eq!(key.open(&[0; 16]), None);
        assert_eq!(key.open(&[]), None);
    }
}
