//! One provider of a resource.

use std::borrow::Cow;
use std::sync::Arc;

use planesmith_store::{PlainValue, Reason, TransformError, is_encrypted};

use crate::keyring::Keyring;
use crate::kms::KmsProvider;

/// The writer of values that are stored as they are.
pub(crate) const IDENTITY_WRITER: u64 = 0;

pub(crate) enum Provider {
    Identity,
    Keyring(Keyring),
    Kms(Arc<KmsProvider>),
}

impl Provider {
    /// The beginning of the values that the provider reads.
    pub(crate) fn prefix(&self) -> &str {
        match self {
            Self::Identity => "",
            Self::Keyring(keyring) => keyring.algorithm().prefix(),
            Self::Kms(kms) => kms.prefix(),
        }
    }

    /// Identifies the key that writes.
    pub(crate) fn writer(&self) -> u64 {
        match self {
            Self::Identity => IDENTITY_WRITER,
            Self::Keyring(keyring) => keyring.writer(),
            Self::Kms(kms) => kms.writer(),
        }
    }

    /// The value to store for `plain`; `None` if that is `plain`.
    pub(crate) fn seal(&self, context: &str, plain: &[u8], reason: Reason) -> Result<Option<Vec<u8>>, TransformError> {
        match self {
            Self::Identity => Ok(None),
            Self::Keyring(keyring) => keyring.seal(context, plain).map(Some),
            Self::Kms(kms) => kms.seal(context, plain, reason).map(Some),
        }
    }

    /// The plain bytes of `stored`, which begins with the provider's prefix.
    pub(crate) fn open<'s>(&self, context: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
        let sealed = &stored[self.prefix().len().min(stored.len())..];
        let (plain, is_stale) = match self {
            Self::Identity => return open_identity(stored),
            Self::Keyring(keyring) => keyring.open(context, sealed)?,
            Self::Kms(kms) => kms.open(context, sealed)?,
        };
        Ok(PlainValue {
            bytes: Cow::Owned(plain),
            is_stale,
        })
    }
}

/// The bytes as they are stored.
pub(crate) fn open_identity(stored: &[u8]) -> Result<PlainValue<'_>, TransformError> {
    if is_encrypted(stored) {
        return Err(TransformError::new("identity transformer tried to read encrypted data"));
    }
    Ok(PlainValue {
        bytes: Cow::Borrowed(stored),
        is_stale: false,
    })
}
