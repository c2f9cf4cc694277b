//! The stored values of a plugin: the encrypted seed, and the value that is encrypted with it.

use std::collections::BTreeMap;

use planesmith_machinery::names;
use planesmith_store::TransformError;
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message as _};
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

/// The field of the encrypted value. The message has it besides those of [`EncryptedSource`].
const DATA: u32 = 1;

/// The encrypted seed or key, and everything that the plugin needs to decrypt it.
#[derive(Clone, PartialEq, prost::Message)]
struct EncryptedSource {
    #[prost(string, tag = "2")]
    key_id: String,
    #[prost(bytes = "vec", tag = "3")]
    source: Vec<u8>,
    #[prost(btree_map = "string, bytes", tag = "4")]
    annotations: BTreeMap<String, Vec<u8>>,
    #[prost(int32, tag = "5")]
    source_type: i32,
}

/// A valid envelope without the value in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Envelope {
    source: EncryptedSource,
}

/// Identifies a seed: a digest of everything that the plugin needs to decrypt it.
pub(super) type SeedId = [u8; 32];

impl Envelope {
    /// Returns the envelope of a `stored` value, and the encrypted value in it.
    pub(super) fn decode(stored: &[u8]) -> Result<(Self, &[u8]), TransformError> {
        let unreadable = |_| TransformError::new("the envelope of the KMS provider cannot be read");
        let source = EncryptedSource::decode(stored).map_err(unreadable)?;
        let data = data_of(stored).map_err(unreadable)?;
        if data.is_empty() {
            return Err(TransformError::new("encrypted data is empty"));
        }
        Ok((Self { source }.checked()?, data))
    }

    /// Returns the envelope for a seed that a plugin has encrypted.
    pub(super) fn of_seed(
        key_id: String,
        source: Vec<u8>,
        annotations: BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, TransformError> {
        let source = EncryptedSource {
            key_id,
            source,
            annotations,
            source_type: SEED,
        };
        Self { source }.checked()
    }

    fn checked(self) -> Result<Self, TransformError> {
        let EncryptedSource {
            key_id,
            source,
            annotations,
            source_type,
        } = &self.source;
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
        } else if annotations
            .keys()
            .any(|key| !names::fully_qualified_name(key).is_empty())
        {
            "an annotation has a key that is no fully qualified domain name".to_owned()
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

    /// The name of the plugin's key.
    pub(super) fn key_id(&self) -> &str {
        &self.source.key_id
    }

    /// The encrypted seed or key, and its annotations.
    pub(super) fn source(&self) -> (&[u8], &BTreeMap<String, Vec<u8>>) {
        (&self.source.source, &self.source.annotations)
    }

    /// True if the source is a seed.
    pub(super) fn has_seed(&self) -> bool {
        self.source.source_type == SEED
    }

    /// The properties by which a value is stale.
    pub(super) fn key(&self) -> (&str, i32) {
        (&self.source.key_id, self.source.source_type)
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
        add(&self.source.source_type.to_le_bytes());
        add(&self.source.source);
        add(self.source.key_id.as_bytes());
        for (key, value) in &self.source.annotations {
            add(key.as_bytes());
            add(value);
        }
        let mut digest = [0; 32];
        digest.copy_from_slice(id.finish().as_ref());
        digest
    }

    /// Appends the envelope with the encrypted value `data` in it.
    pub(super) fn append_with(&self, data: &[u8], out: &mut Vec<u8>) {
        out.reserve(data.len() + self.source.encoded_len() + 16);
        encoding::encode_key(DATA, WireType::LengthDelimited, out);
        encoding::encode_varint(data.len() as u64, out);
        out.extend_from_slice(data);
        // A vector has no end.
        let _ = self.source.encode(out);
    }
}

/// Returns the encrypted value in a message; none is empty.
fn data_of(mut message: &[u8]) -> Result<&[u8], DecodeError> {
    let mut data: &[u8] = &[];
    while !message.is_empty() {
        let (field, wire_type) = encoding::decode_key(&mut message)?;
        if field != DATA || wire_type != WireType::LengthDelimited {
            encoding::skip_field(wire_type, field, &mut message, DecodeContext::default())?;
            continue;
        }
        let length = encoding::decode_varint(&mut message)?;
        // The whole message was decoded before, so the field has all of its bytes.
        let length = usize::try_from(length).map_or(message.len(), |length| length.min(message.len()));
        (data, message) = message.split_at(length);
    }
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_read_as_it_was_written() {
        let annotations = BTreeMap::from([("a.example.com".to_owned(), vec![1, 2])]);
        let envelope = Envelope::of_seed("key".to_owned(), vec![7; 40], annotations).unwrap();
        let mut stored = Vec::new();
        envelope.append_with(&[5; 300], &mut stored);
        assert_eq!(Envelope::decode(&stored).unwrap(), (envelope.clone(), &[5; 300][..]));
        // The order of fields is free, and the last one counts.
        let mut turned = envelope.source.encode_to_vec();
        for data in [&[1][..], &[2, 3]] {
            encoding::encode_key(DATA, WireType::LengthDelimited, &mut turned);
            encoding::encode_varint(data.len() as u64, &mut turned);
            turned.extend_from_slice(data);
        }
        assert_eq!(Envelope::decode(&turned).unwrap(), (envelope, &[2, 3][..]));
        for end in 0..stored.len() {
            // A cut message has no value, no source, or half of a field.
            let cut = Envelope::decode(&stored[..end]);
            assert!(cut.is_err() || cut.unwrap().1.len() == 300, "{end}");
        }
        assert!(Envelope::decode(&turned[..turned.len() - 1]).is_err());
    }
}
