//! The bytes that kube-apiserver stores, and the canonical bytes of this server.

mod resource_version;

use std::fmt::Debug;

use planesmith_machinery::facts::{StructFacts, TypeFacts};
use planesmith_machinery::object::Object;
use planesmith_machinery::protobuf::Transcoder;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::{Scheme, StorageMediaType};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::strategy::Extensions;
use planesmith_machinery::{cbor, conversion, json, protobuf, yaml};
use planesmith_store::StoredForm;

pub(crate) use self::resource_version::{with_gap, without_gap};
use super::declared_objects::DeclaredObjects;
use super::stored_documents::StoredDocuments;
use super::stored_objects::StoredObjects;

/// Translates stored bytes of one kind, as kube-apiserver writes them, to canonical bytes and back.
///
/// Every version and every encoding is read. Built-in kinds are written in the version and the encoding in which
/// kube-apiserver stores them, custom kinds in JSON, or in CBOR if the feature is on; neither has a `resourceVersion`.
#[derive(Debug)]
pub struct StorageCodec {
    encoding: Box<dyn StorageEncoding>,
}

/// The translation of the stored bytes of one kind.
pub(crate) trait StorageEncoding: Debug + Send + Sync {
    /// The canonical bytes of an object; `None` if the bytes do not encode an object of the kind.
    fn decode(&self, stored: &[u8]) -> Option<Read>;

    /// The bytes to store for an object in canonical bytes with the digits of its revision at `gap`.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode an object of the kind.
    fn encode(&self, canonical: &[u8], gap: usize) -> ApiResult<Vec<u8>>;
}

/// An object as it was read from stored bytes.
#[derive(Debug)]
pub(crate) struct Read {
    canonical: json::Encoded,
    /// The stored object, if the definition of the kind makes another one of it.
    adapted_from: Option<json::Encoded>,
    /// True if it is stored in another version than [`StorageEncoding::encode`] writes.
    is_other_version: bool,
}

/// The translation for a declared kind: in the version and the encoding in which kube-apiserver stores it.
#[derive(Debug)]
pub(super) struct DeclaredEncoding {
    objects: DeclaredObjects,
    hub: ResourceFacts,
    media_type: StorageMediaType,
    transcoder: Transcoder,
}

/// Stored bytes as canonical bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The canonical bytes, with the gap for the revision.
    pub canonical: json::Encoded,
    /// The stored bytes, compared with those that a write of the object would store.
    pub form: StoredForm,
    /// The canonical bytes of the stored object, if the definition of its kind makes another object of it.
    pub adapted_from: Option<json::Encoded>,
}

impl StorageCodec {
    /// Returns the codec of the kind with the storage version `hub`, whose other versions are in `scheme`, and which stores
    /// objects as `media_type` if the kind has it.
    #[must_use]
    pub fn new(hub: &ResourceFacts, scheme: &Scheme, media_type: StorageMediaType) -> Self {
        Self {
            encoding: super::of(hub).storage_encoding(hub, scheme, media_type),
        }
    }

    /// Returns the canonical bytes of an object, in its kind's current definition; `None` if the bytes do not encode an object
    /// of the kind. Objects of custom kinds keep the version in which they are stored.
    #[must_use]
    pub fn decode(&self, stored: &[u8]) -> Option<Decoded> {
        let Read {
            canonical,
            adapted_from,
            is_other_version,
        } = self.encoding.decode(stored)?;
        // What the definition of the kind makes of the object is not what a rewrite would store.
        let form = match self.encode(adapted_from.as_ref().unwrap_or(&canonical)) {
            _ if is_other_version => StoredForm::OtherVersion,
            Ok(written) if written == stored => StoredForm::Current,
            _ => StoredForm::Earlier,
        };
        Some(Decoded {
            canonical,
            form,
            adapted_from,
        })
    }

    /// Returns the bytes to store for an object in canonical bytes without the digits of its revision.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode an object of the kind.
    pub fn encode(&self, canonical: &json::Encoded) -> ApiResult<Vec<u8>> {
        self.encode_bytes(&canonical.bytes, canonical.gap)
    }

    /// Like [`Self::encode`], for canonical bytes with the digits at `gap`.
    pub(crate) fn encode_bytes(&self, canonical: &[u8], gap: usize) -> ApiResult<Vec<u8>> {
        self.encoding.encode(canonical, gap)
    }
}

impl StorageEncoding for StoredDocuments {
    fn decode(&self, stored: &[u8]) -> Option<Read> {
        let stored = with_gap(stored)?;
        let (canonical, adapted_from) = match self.adapted(&stored.bytes) {
            None => (stored, None),
            Some(adapted) if self.is_same(&stored.bytes, &adapted.bytes) => (adapted, None),
            Some(adapted) => (adapted, Some(stored)),
        };
        Some(Read {
            canonical,
            adapted_from,
            is_other_version: false,
        })
    }

    fn encode(&self, canonical: &[u8], gap: usize) -> ApiResult<Vec<u8>> {
        let json = without_gap(canonical, gap);
        // A document that is too deep for readers of CBOR could not be read, listed or deleted any more.
        if !self.writes_cbor || !cbor::has_readable_depth(&json) {
            return Ok(line(json));
        }
        let mut out = Vec::with_capacity(json.len());
        cbor::from_json(&json, &mut out).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(out)
    }
}

impl StorageEncoding for DeclaredEncoding {
    fn decode(&self, stored: &[u8]) -> Option<Read> {
        let (object, version) = self.objects.read_encoded(stored).ok()?;
        let is_other_version = *version != *self.target();
        Some(Read {
            canonical: json::encode_for_storage(&*object),
            adapted_from: None,
            is_other_version,
        })
    }

    fn encode(&self, canonical: &[u8], gap: usize) -> ApiResult<Vec<u8>> {
        let target = self.target();
        if *target == self.hub {
            let mut out = Vec::with_capacity(canonical.len() + 64);
            if self.media_type != StorageMediaType::Protobuf {
                return self.text(without_gap(canonical, gap));
            }
            let mut is_done = false;
            protobuf::wrap(&target.api_version, &target.kind, &mut out, |out| {
                is_done = self.transcoder.transcode(canonical, out);
            });
            if is_done {
                return Ok(out);
            }
        }
        let object = self.read(canonical)?;
        let object = conversion::convert(&*object, target);
        if self.media_type != StorageMediaType::Protobuf {
            return self.text(json::to_vec(&*object));
        }
        let mut out = Vec::with_capacity(canonical.len() + 64);
        protobuf::encode_enveloped(&*object, &mut out);
        Ok(out)
    }
}

impl DeclaredEncoding {
    /// Returns the encoding of the kind with the storage version `hub`.
    pub(super) fn new(hub: &ResourceFacts, scheme: &Scheme, media_type: StorageMediaType) -> Self {
        // Servers with a Go scheme of their own store JSON, whatever the flag says.
        let has_own_scheme = hub.extensions.scheme_name != Extensions::NONE.scheme_name;
        let is_json = has_own_scheme || !has_numbers(hub.fields(), &mut Vec::new());
        Self {
            objects: DeclaredObjects::new(hub, scheme),
            hub: hub.clone(),
            media_type: if is_json { StorageMediaType::Json } else { media_type },
            transcoder: Transcoder::new(hub.fields()),
        }
    }

    /// The version in which kube-apiserver stores objects.
    fn target(&self) -> &ResourceFacts {
        self.objects.version(&self.hub.hashed_version)
    }

    fn read(&self, canonical: &[u8]) -> ApiResult<Box<dyn Object>> {
        let read = self.objects.read_stored(canonical);
        read.map(|(object, _)| object).map_err(ApiError::from)
    }

    fn text(&self, json: Vec<u8>) -> ApiResult<Vec<u8>> {
        match self.media_type {
            StorageMediaType::Yaml => yaml::from_json(&json).map_err(|error| ApiError::internal(error.to_string())),
            StorageMediaType::Json | StorageMediaType::Protobuf => Ok(line(json)),
        }
    }
}

/// Ends JSON as Go's encoder does.
fn line(mut json: Vec<u8>) -> Vec<u8> {
    json.push(b'\n');
    json
}

/// True if every field below `facts` has a number, so that protobuf loses none. `known` are the structs that contain it. The
/// type of an embedded object has no number in Kubernetes, either.
fn has_numbers(facts: &'static StructFacts, known: &mut Vec<*const StructFacts>) -> bool {
    if known.contains(&std::ptr::from_ref(facts)) {
        return true;
    }
    known.push(std::ptr::from_ref(facts));
    facts.fields.iter().all(|field| {
        let is_type = matches!(field.name, "kind" | "apiVersion");
        (field.proto != 0 || is_type) && has_numbers_within(&field.ty, known)
    })
}

fn has_numbers_within(ty: &'static TypeFacts, known: &mut Vec<*const StructFacts>) -> bool {
    match ty.present() {
        TypeFacts::Struct(inner) => has_numbers(inner(), known),
        TypeFacts::List(inner) | TypeFacts::Map(inner) => has_numbers_within(inner, known),
        _ => true,
    }
}
