//! The encodings of one kind in one version.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use planesmith_machinery::json::Strictness;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::{conversion, custom, json, protobuf};
use planesmith_store::{Entry, FormId, Revision};
use serde_json::value::RawValue;

use crate::stores::ResourceStore;

/// Numbers that one endpoint may give to its encodings.
const NUMBERS: u32 = 64;

/// The encodings of one kind in one version, made from what the store holds: on first use, and kept beside it.
pub(crate) struct Forms {
    facts: &'static ResourceFacts,
    store: Arc<ResourceStore>,
    first: u32,
    /// Custom objects that were written up to then may have been written for another definition, and nobody looked at
    /// those that are history by now.
    since: Option<Revision>,
    prefix: Vec<u8>,
}

/// An encoding that is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// JSON in the endpoint's version; never needed for the storage version, whose JSON is what the store holds.
    Json = 0,
    /// The protobuf message, without envelope.
    Message = 1,
    /// The protobuf message of the metadata alone.
    MetadataMessage = 2,
    /// What tables show.
    Row = 3,
    /// The JSON of the metadata alone; needed for what is stored with all keys in order only.
    Metadata = 4,
    /// The first of the frames of watches.
    Frames = 8,
}

impl Forms {
    pub(crate) fn new(facts: &'static ResourceFacts, store: Arc<ResourceStore>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let mut prefix = vec![b'{'];
        for (name, value) in [("kind", facts.kind), ("apiVersion", facts.api_version)] {
            json::encode_text(name, &mut prefix);
            prefix.push(b':');
            json::encode_text(value, &mut prefix);
            prefix.push(b',');
        }
        let since = facts.custom.map(|_| store.storage().revision());
        Self {
            facts,
            store,
            since,
            first: NEXT.fetch_add(NUMBERS, Ordering::Relaxed),
            prefix,
        }
    }

    /// The number of an encoding.
    pub(crate) fn id(&self, form: Form, offset: u32) -> FormId {
        FormId(self.first + form as u32 + offset)
    }

    /// Whether what the store holds is in the endpoint's version.
    pub(crate) fn is_stored(&self) -> bool {
        self.facts.is_hub()
    }

    /// Whether the bytes of an object are its JSON in the endpoint's version.
    pub(crate) fn is_as_stored(&self, entry: &Entry) -> bool {
        let is_current = self.since.is_none_or(|since| entry.revision() > since);
        self.is_stored() && (is_current || self.store.fits(entry))
    }

    /// The kind in the endpoint's version.
    pub(crate) fn facts(&self) -> &'static ResourceFacts {
        self.facts
    }

    /// Whether objects are written as trees, as those of custom kinds are: all keys are in their order, and items of lists say
    /// what they are.
    pub(crate) fn writes_trees(&self) -> bool {
        self.facts.custom.is_some()
    }

    /// What the JSON of every object starts with; an item of a list is `{` and what stands behind it.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The object of stored bytes in the storage version.
    pub(crate) fn stored(&self, stored: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.store.decode_bytes(stored)
    }

    /// The object of stored bytes in the endpoint's version.
    pub(crate) fn object(&self, stored: &[u8]) -> ApiResult<Box<dyn Object>> {
        if self.facts.custom.is_some() {
            return custom::read(stored, self.facts);
        }
        let object = self.store.decode_bytes(stored)?;
        self.in_version(object)
    }

    /// The object of an entry in the endpoint's version.
    pub(crate) fn object_of(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        if self.facts.custom.is_some() && entry.revision() == Revision(0) {
            // It was converted already. What is stored gets defaults when it is read, but what was converted does not.
            let mut object = self.facts.zero();
            custom::decode(entry.bytes(), &mut *object, Strictness::Lenient)
                .map_err(|_| ApiError::internal("unable to read the converted object"))?;
            return Ok(object);
        }
        self.object(entry.bytes())
    }

    /// An object of the storage version in the endpoint's version.
    pub(crate) fn in_version(&self, hub: Box<dyn Object>) -> ApiResult<Box<dyn Object>> {
        if self.is_stored() {
            Ok(hub)
        } else {
            conversion::try_convert(&*hub, self.facts)
        }
    }

    /// JSON in the endpoint's version.
    pub(crate) fn json(&self, entry: &Arc<Entry>) -> ApiResult<Bytes> {
        if self.is_as_stored(entry) {
            return Ok(entry.bytes().clone());
        }
        self.kept(entry, Form::Json, |object| json::to_vec(object))
    }

    /// The protobuf message in the endpoint's version.
    pub(crate) fn message(&self, entry: &Arc<Entry>) -> ApiResult<Bytes> {
        self.kept(entry, Form::Message, |object| {
            let mut out = Vec::with_capacity(entry.bytes().len());
            protobuf::encode(object, &mut out);
            out
        })
    }

    /// The protobuf message of a PartialObjectMetadata.
    pub(crate) fn metadata_message(&self, entry: &Arc<Entry>) -> ApiResult<Bytes> {
        self.kept(entry, Form::MetadataMessage, |object| {
            let partial = planesmith_machinery::meta::PartialObjectMetadata {
                metadata: object.meta().clone(),
            };
            let mut out = Vec::with_capacity(512);
            protobuf::encode(&partial, &mut out);
            out
        })
    }

    /// The JSON of the metadata alone, as a PartialObjectMetadata has it.
    pub(crate) fn metadata(&self, entry: &Arc<Entry>) -> ApiResult<Bytes> {
        if self.writes_trees() {
            return self.kept(entry, Form::Metadata, |object| json::to_vec(object.meta()));
        }
        Ok(entry.bytes().slice(metadata_range(entry.bytes())?))
    }

    fn kept(&self, entry: &Arc<Entry>, form: Form, encode: impl Fn(&dyn Object) -> Vec<u8>) -> ApiResult<Bytes> {
        entry.form(self.id(form, 0), |entry| {
            let encoded = encode(&*self.object_of(entry)?);
            // What did not change is not held twice.
            Ok(match encoded == **entry.bytes() {
                true => entry.bytes().clone(),
                false => Bytes::from(encoded),
            })
        })
    }
}

/// Where the value of `metadata` stands in the JSON of an object. It is the same in every version.
pub(crate) fn metadata_range(json: &[u8]) -> ApiResult<Range<usize>> {
    #[derive(serde::Deserialize)]
    struct Pieces<'b> {
        #[serde(borrow)]
        metadata: &'b RawValue,
    }
    let pieces: Pieces<'_> =
        serde_json::from_slice(json).map_err(|_| ApiError::internal("unable to read the stored object"))?;
    let value = pieces.metadata.get();
    let start = value.as_ptr() as usize - json.as_ptr() as usize;
    Ok(start..start + value.len())
}

impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Forms")
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}
