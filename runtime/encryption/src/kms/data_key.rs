//! The key of values: a seed, or a key for AES-GCM as earlier servers wrote it.

use planesmith_store::TransformError;
use ring::hkdf::{HKDF_SHA256, KeyType, Prk};

use crate::aes_gcm::GcmKey;
use crate::random;

/// Bytes of a seed.
pub(super) const SEED: usize = 32;
/// Random bytes in front of each value, from which its key is derived.
const INFO: usize = 32;
/// Bytes of a derived key.
const KEY: usize = 32;

/// Encrypts and decrypts values.
pub(super) enum DataKey {
    /// A key for each value is derived from it.
    Seed(Prk),
    Key(GcmKey),
}

/// The length of a derived key.
struct KeyLength;

impl KeyType for KeyLength {
    fn len(&self) -> usize {
        KEY
    }
}

impl DataKey {
    /// Returns the key of a decrypted source; `None` if it has another length than its type needs.
    pub(super) fn new(source: &[u8], is_seed: bool) -> Option<Self> {
        match is_seed {
            // kube-apiserver accepts longer seeds, too.
            true if source.len() >= SEED => Some(Self::Seed(Prk::new_less_safe(HKDF_SHA256, source))),
            true => None,
            false => GcmKey::new(source).map(Self::Key),
        }
    }

    /// Appends `plain`, encrypted and bound to `context`, to `out`. Only seeds encrypt.
    pub(super) fn seal(&self, context: &[u8], plain: &[u8], out: &mut Vec<u8>) -> Result<(), TransformError> {
        let Self::Seed(seed) = self else {
            return Err(TransformError::new("values are encrypted with seeds only"));
        };
        let info = random::bytes::<INFO>()?;
        let key = derived(seed, &info).ok_or_else(|| TransformError::new("no key can be derived"))?;
        out.extend_from_slice(&info);
        key.seal(context, plain, out)
    }

    /// The plain bytes of `stored`; `None` if it was encrypted with another key, in another context, or was changed.
    pub(super) fn open(&self, context: &[u8], stored: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Seed(seed) => {
                let (info, sealed) = stored.split_first_chunk::<INFO>()?;
                derived(seed, info)?.open(context, sealed)
            }
            Self::Key(key) => key.open(context, stored),
        }
    }
}

fn derived(seed: &Prk, info: &[u8; INFO]) -> Option<GcmKey> {
    let mut key = [0; KEY];
    let info: [&[u8]; 1] = [info];
    seed.expand(&info, KeyLength).ok()?.fill(&mut key).ok()?;
    GcmKey::new(&key)
}
