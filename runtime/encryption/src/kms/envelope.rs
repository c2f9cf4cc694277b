//! The stored values of a plugin: the encrypted seed, and the value that is encrypted with it.

use std::collections::BTreeMap;

use planesmith_machinery::names;
use planesmith_store::TransformError;
use prost::Message as _;
use ring::digest::{Context, SHA256};

/// Maximum bytes of the name of a key.
pub(super) const KEY_ID_LIMIT: usize = 1024;
/// Maximum bytes of an encrypted seed.
const SOURCE_LIMIT: usize = 1024;
/// Maximum bytes of all annotations.
const ANNOTATIONS_LIMIT: usize = 32 << 10;

/// The source is a key for AES-GCM.
const KEY: i32 = 0;
/// The source is a seed from which a key for each value is derived.
const SEED: i32 = 1;

#[derive(Clone, PartialEq, prost::Message)]
struct EncryptedObject {
    #[prost(bytes = "vec", tag = "1")]
    data: Vec<u8>,
    #[prost(string, tag = "2")]
    key_id: String,
    #[prost(bytes = "vec", tag = "3")]
    source: Vec<u8>,
    #[prost(btree_map = "string, bytes", tag = "4")]
    annotations: BTreeMap<String, Vec<u8>>,
    #[prost(int32, tag = "5")]
    source_type: i32,
}

/// A valid envelope.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Envelope {
    object: EncryptedObject,
}

/// Identifies a seed: a digest of everything that the plugin needs to decrypt it.
pub(super) type SeedId = [u8; 32];

impl Envelope {
    /// Reads an envelope.
    pub(super) fn decode(stored: &[u8]) -> Result<Self, TransformError> {
        let object = EncryptedObject::decode(stored);
        let object = object.map_err(|_| TransformError::new("the envelope of the KMS provider cannot be read"))?;
        if object.data.is_empty() {
            return Err(TransformError::new("encrypted data is empty"));
        }
        Self { object }.checked()
    }

    /// Returns an envelope without a value for a seed that a plugin has encrypted.
    pub(super) fn of_seed(
        key_id: String,
        source: Vec<u8>,
        annotations: BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, TransformError> {
        let object = EncryptedObject {
            data: Vec::new(),
            key_id,
            source,
            annotations,
            source_type: SEED,
        };
        Self { object }.checked()
    }

    fn checked(self) -> Result<Self, TransformError> {
        let EncryptedObject {
            key_id,
            source,
            annotations,
            source_type,
            ..
        } = &self.object;
        let problem = if !matches!(*source_type, KEY | SEED) {
            format!("unknown encryptedDEKSourceType: {source_type}")
        } else if source.is_empty() {
            "encrypted DEK source is empty".to_owned()
        } else if source.len() > SOURCE_LIMIT {
            format!(
                "encrypted DEK source is {} bytes, which exceeds the max size of {SOURCE_LIMIT}",
                source.len()
            )
        } else if key_id.is_empty() {
            "keyID is empty".to_owned()
        } else if key_id.len() > KEY_ID_LIMIT {
            format!(
                "keyID is {} bytes, which exceeds the max size of {KEY_ID_LIMIT}",
                key_id.len()
            )
        } else if let Some(key) = annotations
            .keys()
            .find(|key| !names::fully_qualified_name(key).is_empty())
        {
            format!("the annotation {key:?} is no fully qualified domain name")
        } else {
            let sizes = annotations.iter().map(|(key, value)| key.len() + value.len());
            match sizes.sum::<usize>() {
                0..=ANNOTATIONS_LIMIT => return Ok(self),
                size => {
                    format!("total size of annotations is {size}, which exceeds the max size of {ANNOTATIONS_LIMIT}")
                }
            }
        };
        Err(TransformError::new(problem))
    }

    /// The encrypted value.
    pub(super) fn data(&self) -> &[u8] {
        &self.object.data
    }

    /// The name of the plugin's key.
    pub(super) fn key_id(&self) -> &str {
        &self.object.key_id
    }

    /// The encrypted seed or key, and its annotations.
    pub(super) fn source(&self) -> (&[u8], &BTreeMap<String, Vec<u8>>) {
        (&self.object.source, &self.object.annotations)
    }

    /// True if the source is a seed.
    pub(super) fn has_seed(&self) -> bool {
        self.object.source_type == SEED
    }

    /// The properties by which a value is stale.
    pub(super) fn key(&self) -> (&str, i32) {
        (&self.object.key_id, self.object.source_type)
    }

    /// True if a value in `other` is not stale.
    pub(super) fn has_key_of(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// Identifies the seed.
    pub(super) fn seed_id(&self) -> SeedId {
        let mut id = Context::new(&SHA256);
        let mut add = |part: &[u8]| {
            id.update(&(part.len() as u64).to_le_bytes());
            id.update(part);
        };
        let EncryptedObject {
            key_id,
            source,
            annotations,
            source_type,
            ..
        } = &self.object;
        add(&source_type.to_le_bytes());
        add(source);
        add(key_id.as_bytes());
        for (key, value) in annotations {
            add(key.as_bytes());
            add(value);
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(id.finish().as_ref());
        digest
    }

    /// The same envelope without the value.
    pub(super) fn without_data(mut self) -> Self {
        self.object.data = Vec::new();
        self
    }

    /// Appends the same envelope with the encrypted value `data`.
    pub(super) fn append_with(&self, data: Vec<u8>, out: &mut Vec<u8>) {
        let object = EncryptedObject {
            data,
            ..self.object.clone()
        };
        out.reserve(object.encoded_len());
        // A vector has no end.
        let _ = object.encode(out);
    }
}
