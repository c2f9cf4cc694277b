//! The keys of one provider of the configuration. The first one writes, and all of them read.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use planesmith_store::TransformError;

use crate::aes_cbc::CbcKey;
use crate::aes_gcm::GcmKey;
use crate::secretbox::SecretboxKey;

/// The cipher of a keyring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    AesGcm,
    AesCbc,
    Secretbox,
}

impl Algorithm {
    /// The beginning of all values.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::AesGcm => "k8s:enc:aesgcm:v1:",
            Self::AesCbc => "k8s:enc:aescbc:v1:",
            Self::Secretbox => "k8s:enc:secretbox:v1:",
        }
    }

    /// The name of the provider in messages.
    fn name(self) -> &'static str {
        match self {
            Self::AesGcm | Self::AesCbc => "AES",
            Self::Secretbox => "Secretbox",
        }
    }

    fn cipher(self, key: &[u8]) -> Option<Cipher> {
        match self {
            Self::AesGcm => GcmKey::new(key).map(Cipher::AesGcm),
            Self::AesCbc => CbcKey::new(key).map(Cipher::AesCbc),
            Self::Secretbox => SecretboxKey::new(key).map(Cipher::Secretbox),
        }
    }
}

enum Cipher {
    AesGcm(GcmKey),
    AesCbc(CbcKey),
    Secretbox(SecretboxKey),
}

/// Keys with names.
pub(crate) struct Keyring {
    algorithm: Algorithm,
    keys: Vec<NamedKey>,
    /// Identifies the first key.
    writer: u64,
}

struct NamedKey {
    /// The name and a colon, which are in front of each value.
    prefix: String,
    cipher: Cipher,
}

impl Keyring {
    /// Returns the keyring of `keys`, names with bytes; `None` if there are none, or one has another length than `algorithm`
    /// needs.
    pub(crate) fn new(algorithm: Algorithm, keys: &[(String, Vec<u8>)]) -> Option<Self> {
        let mut writer = DefaultHasher::new();
        (algorithm.prefix(), keys.first()?).hash(&mut writer);
        let keys = keys.iter().map(|(name, key)| {
            Some(NamedKey {
                prefix: format!("{name}:"),
                cipher: algorithm.cipher(key)?,
            })
        });
        Some(Self {
            algorithm,
            keys: keys.collect::<Option<_>>()?,
            writer: writer.finish(),
        })
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Identifies the key that writes.
    pub(crate) fn writer(&self) -> u64 {
        self.writer
    }

    /// The value to store for `plain` under the key `context`.
    pub(crate) fn seal(&self, context: &str, plain: &[u8]) -> Result<Vec<u8>, TransformError> {
        let Some(key) = self.keys.first() else {
            return Err(TransformError::new("there is no key"));
        };
        let prefixes = [self.algorithm.prefix(), &key.prefix];
        let mut out = Vec::with_capacity(prefixes.concat().len() + plain.len() + 64);
        prefixes
            .iter()
            .for_each(|prefix| out.extend_from_slice(prefix.as_bytes()));
        match &key.cipher {
            Cipher::AesGcm(key) => key.seal(context.as_bytes(), plain, &mut out)?,
            Cipher::AesCbc(key) => key.seal(plain, &mut out)?,
            Cipher::Secretbox(key) => key.seal(plain, &mut out)?,
        }
        Ok(out)
    }

    /// The plain bytes of `stored` without the prefix of the algorithm, and true if another key than the first one has written
    /// it.
    pub(crate) fn open(&self, context: &str, stored: &[u8]) -> Result<(Vec<u8>, bool), TransformError> {
        let mut has_named = false;
        for (index, key) in self.keys.iter().enumerate() {
            let Some(sealed) = stored.strip_prefix(key.prefix.as_bytes()) else {
                continue;
            };
            has_named = true;
            let opened = match &key.cipher {
                Cipher::AesGcm(key) => key.open(context.as_bytes(), sealed),
                Cipher::AesCbc(key) => key.open(sealed),
                Cipher::Secretbox(key) => key.open(sealed),
            };
            if let Some(plain) = opened {
                return Ok((plain, index > 0));
            }
        }
        Err(match has_named {
            true => TransformError::new("the value was encrypted with another key of this name, or was changed"),
            false => TransformError::new(format!(
                "no matching key was found for the provided {} transformer",
                self.algorithm.name()
            )),
        })
    }
}
