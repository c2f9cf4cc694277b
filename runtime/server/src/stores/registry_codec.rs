//! The codecs of all kinds of a server, for work on a whole store.

use std::time::Duration;

use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::sorting::sort_by;
use planesmith_machinery::status::{ApiError, ApiResult};

use crate::representation::{StorageCodec, with_gap, without_gap};

/// The beginning of an object in Protobuf.
const PROTOBUF: &[u8] = b"k8s\0";

/// Translates objects of any kind between canonical bytes and those that kube-apiserver stores. The kind follows from the key.
///
/// Objects of kinds that the scheme does not have, such as custom ones, are documents in JSON. Everything else is passed on
/// as it is.
#[derive(Debug)]
pub struct RegistryCodec {
    /// By the prefix of their keys.
    kinds: Vec<Kind>,
}

#[derive(Debug)]
struct Kind {
    prefix: String,
    codec: StorageCodec,
    ttl: Option<Duration>,
}

/// Canonical bytes of an object of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalObject {
    /// The bytes, without the digits of the revision.
    pub bytes: Vec<u8>,
    /// The offset of these digits; `None` for bytes that are not an object.
    pub gap: Option<usize>,
    /// True if the bytes are those of an object of the key's kind, or of a kind that is not known.
    pub is_legible: bool,
}

impl RegistryCodec {
    /// Returns the codecs of the kinds in `scheme`, which write objects in its storage media type.
    #[must_use]
    pub fn new(scheme: &Scheme) -> Self {
        let hubs = scheme.iter().filter(|facts| facts.is_hub());
        let kind = |hub: &ResourceFacts| Kind {
            prefix: hub.storage_prefix(),
            codec: StorageCodec::new(hub, scheme, scheme.storage_media_type()),
            ttl: scheme.ttl(hub),
        };
        let mut kinds: Vec<Kind> = hubs.map(kind).collect();
        sort_by(&mut kinds, |one, other| one.prefix.cmp(&other.prefix));
        Self { kinds }
    }

    /// Returns the canonical bytes of an object that is `stored` under `key`, in any version and encoding, canonical ones
    /// included.
    #[must_use]
    pub fn decode(&self, key: &str, stored: &[u8]) -> CanonicalObject {
        let kind = self.kind(key);
        let canonical = match kind {
            Some(kind) => kind.codec.decode(stored).map(|decoded| decoded.canonical),
            None => with_gap(stored),
        };
        match canonical {
            Some(canonical) => CanonicalObject {
                bytes: canonical.bytes,
                gap: Some(canonical.gap),
                is_legible: true,
            },
            None => CanonicalObject {
                bytes: stored.to_vec(),
                gap: None,
                is_legible: kind.is_none(),
            },
        }
    }

    /// Returns the bytes to store for the object with these canonical bytes, which have `digits` characters of its revision at
    /// `gap`. They are read back, so that no property of the object is lost.
    ///
    /// # Errors
    ///
    /// 500 if the stored bytes would not be the same object.
    pub fn encode(&self, key: &str, canonical: &[u8], gap: Option<usize>, digits: usize) -> ApiResult<Vec<u8>> {
        let Some(gap) = gap else {
            return Ok(canonical.to_vec());
        };
        let bare = [&canonical[..gap], &canonical[gap + digits..]].concat();
        let as_document = || {
            let mut document = without_gap(&bare, gap);
            document.push(b'\n');
            document
        };
        let Some(kind) = self.kind(key) else {
            return Ok(as_document());
        };
        let Some(expected) = kind.codec.decode(canonical) else {
            // It is unreadable here, too.
            return Ok(as_document());
        };
        let stored = kind.codec.encode(&expected.canonical)?;
        let is_same = kind
            .codec
            .decode(&stored)
            .is_some_and(|read| read.canonical == expected.canonical);
        match is_same {
            true => Ok(stored),
            false => Err(ApiError::internal(format!(
                "{key} would lose content in another encoding"
            ))),
        }
    }

    /// Returns true if an object of the kind of `key` can be decoded from `stored`; true for keys of unknown kinds.
    #[must_use]
    pub fn is_legible(&self, key: &str, stored: &[u8]) -> bool {
        let kind = self.kind(key);
        kind.is_none_or(|kind| kind.codec.decode(stored).is_some())
    }

    /// Returns true if `decrypted` is an object of the kind of `key`, or at least a document: false for the bytes that a wrong key of a
    /// cipher without authentication yields. An object of an unknown kind may be encoded in Protobuf, too.
    #[must_use]
    pub fn is_object(&self, key: &str, decrypted: &[u8]) -> bool {
        let is_encoded = match self.kind(key) {
            Some(kind) => kind.codec.decode(decrypted).is_some(),
            None => decrypted.starts_with(PROTOBUF),
        };
        is_encoded || with_gap(decrypted).is_some()
    }

    /// The time after which objects of the kind of `key` expire.
    #[must_use]
    pub fn ttl(&self, key: &str) -> Option<Duration> {
        self.kind(key)?.ttl
    }

    fn kind(&self, key: &str) -> Option<&Kind> {
        let after = self.kinds.partition_point(|kind| *kind.prefix <= *key);
        let kind = self.kinds.get(after.checked_sub(1)?)?;
        key.starts_with(&kind.prefix).then_some(kind)
    }
}
