//! The encodings of one kind in one version.

mod subject;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use bytes::Bytes;
use planesmith_dynamic::custom;
use planesmith_machinery::json::Strictness;
use planesmith_machinery::meta::{ObjectMeta, PartialObjectMetadata};
use planesmith_machinery::object::Object;
use planesmith_machinery::protobuf::Transcoder;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::value::Struct as _;
use planesmith_machinery::{conversion, json, protobuf};
use planesmith_store::{EncodingCache, EncodingId, Entry, Revision};
use serde_json::value::RawValue;

pub(crate) use self::subject::Subject;
use crate::negotiation::{Output, Target};
use crate::offload::Cost;
use crate::representation::{self, Representation};
use crate::stores::ResourceStore;

/// Number of encoding ids that one endpoint may assign.
const NUMBERS: u32 = 64;

/// The encodings of one kind in one version, derived from the stored bytes on first use and cached beside them.
pub(crate) struct Encodings {
    facts: ResourceFacts,
    representation: &'static dyn Representation,
    store: Arc<ResourceStore>,
    first: u32,
    /// Custom objects written up to this revision may have been written for another definition; those that are history
    /// by now were not checked.
    since: Option<Revision>,
    prefix: Vec<u8>,
    /// The first bytes of an object that the storage version's encoder wrote.
    stored_prefix: Vec<u8>,
    /// The conversion of stored JSON to protobuf messages, prepared on first use.
    transcoder: OnceLock<Transcoder>,
}

/// Decides if an encoding is cached beside the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caching {
    /// The encoding is cached, so that the next reader finds it.
    Keep,
    /// The encoding is not cached: a pass over many objects does not evict the encodings that other readers need.
    Scan,
}

/// An encoding that can be cached.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    /// JSON in the endpoint's version; never needed for the storage version, whose JSON is the stored one.
    Json = 0,
    /// The protobuf message, without envelope.
    Message = 1,
    /// The protobuf message of the metadata alone.
    MetadataMessage = 2,
    /// The data of a table row; small, and always cached.
    Row = 3,
    /// The JSON of the metadata alone; needed where it is not a part of the stored bytes.
    Metadata = 4,
    /// The first of the frames of watches.
    Frames = 8,
}

impl Encodings {
    pub(crate) fn new(facts: &ResourceFacts, store: Arc<ResourceStore>) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let representation = representation::of(facts);
        let since = representation.is_redefinable().then(|| store.storage().revision());
        Self {
            facts: facts.clone(),
            representation,
            store,
            since,
            first: NEXT.fetch_add(NUMBERS, Ordering::Relaxed),
            prefix: prefix(facts),
            stored_prefix: prefix(&facts.hub()),
            transcoder: OnceLock::new(),
        }
    }

    /// The memory for cached encodings.
    pub(crate) fn cache(&self) -> &EncodingCache {
        self.store.storage().encodings()
    }

    /// The id of an encoding.
    pub(crate) fn id(&self, encoding: Encoding, offset: u32) -> EncodingId {
        EncodingId(self.first + encoding as u32 + offset)
    }

    /// True if the stored objects are in the endpoint's version.
    pub(crate) fn is_stored(&self) -> bool {
        self.facts.is_hub()
    }

    /// True if the bytes of an entry are its JSON in the endpoint's version.
    pub(crate) fn is_as_stored(&self, entry: &Entry) -> bool {
        let is_current = self.since.is_none_or(|since| entry.revision() > since);
        self.is_stored() && entry.is_readable() && (is_current || self.store.fits(entry))
    }

    /// True if objects are written as trees; see [`Representation::writes_trees`].
    pub(crate) fn writes_trees(&self) -> bool {
        self.representation.writes_trees()
    }

    /// True if an entry has the layout of the storage version of a declared kind, and so can be read.
    pub(crate) fn has_usual_layout(&self, entry: &Entry) -> bool {
        !self.representation.has_fixed_layout()
            || (entry.is_readable() && entry.bytes().starts_with(&self.stored_prefix))
    }

    /// The first bytes of the JSON of every object; an item of a list is `{` and the bytes behind them.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Decodes stored bytes into an object of the storage version.
    pub(crate) fn stored(&self, stored: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.store.decode_bytes(stored)
    }

    /// Decodes stored bytes into an object of the endpoint's version.
    pub(crate) fn object(&self, stored: &[u8]) -> ApiResult<Box<dyn Object>> {
        self.store.decode_as(stored, &self.facts)
    }

    /// The object of an entry in the endpoint's version.
    pub(crate) fn object_of(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        self.store.check_decrypted(entry)?;
        if entry.revision() == Revision(0) && self.representation.has_converter(&self.facts) {
            // The entry was converted already. Stored objects get defaults when they are read, converted ones do not.
            let mut object = self.facts.zero();
            custom::decode(entry.bytes(), &mut *object, Strictness::Lenient)
                .map_err(|_| ApiError::internal("unable to read the converted object"))?;
            return Ok(object);
        }
        self.object(entry.bytes())
    }

    /// The object of an entry that is stored in the endpoint's version, for readers of anything but its managed fields,
    /// which are often half of it.
    pub(crate) fn object_to_print(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        self.store.check_decrypted(entry)?;
        match self.representation.has_fixed_layout() {
            true => self.stored(&without_managers(entry.bytes())),
            false => self.object_of(entry),
        }
    }

    /// Converts an object of the storage version to the endpoint's version; returns an object of that version
    /// unchanged.
    pub(crate) fn in_version(&self, hub: Box<dyn Object>) -> ApiResult<Box<dyn Object>> {
        if self.is_stored() || *hub.resource() == self.facts {
            Ok(hub)
        } else {
            conversion::try_convert(&*hub, &self.facts)
        }
    }

    /// JSON in the endpoint's version.
    pub(crate) fn json(&self, entry: &Arc<Entry>, caching: Caching) -> ApiResult<Bytes> {
        if self.is_as_stored(entry) {
            return Ok(entry.to_bytes());
        }
        self.cached(entry, Encoding::Json, caching, |entry| {
            // Never the bytes of the entry itself, which would keep each other in memory.
            Ok(json::to_vec(&*self.object_of(entry)?).into())
        })
    }

    /// The protobuf message in the endpoint's version.
    pub(crate) fn message(&self, entry: &Arc<Entry>, caching: Caching) -> ApiResult<Bytes> {
        self.cached(entry, Encoding::Message, caching, |entry| {
            let mut out = Vec::with_capacity(entry.bytes().len());
            self.encode_message(entry, &mut out)?;
            Ok(out.into())
        })
    }

    /// Appends the protobuf message in the endpoint's version without caching it.
    pub(crate) fn scan_message(&self, entry: &Entry, out: &mut Vec<u8>) -> ApiResult<()> {
        match entry.cached_encoding(self.id(Encoding::Message, 0)) {
            Some(kept) => out.extend_from_slice(&kept),
            None => self.encode_message(entry, out)?,
        }
        Ok(())
    }

    fn encode_message(&self, entry: &Entry, out: &mut Vec<u8>) -> ApiResult<()> {
        let transcode = |out| {
            let transcoder = self.transcoder.get_or_init(|| Transcoder::new(self.facts.fields()));
            transcoder.transcode(entry.bytes(), out)
        };
        if !(self.is_transcoded() && entry.is_readable() && transcode(out)) {
            protobuf::encode(&*self.object_of(entry)?, out);
        }
        Ok(())
    }

    /// True if the messages of most objects are transcoded from their JSON.
    pub(crate) fn is_transcoded(&self) -> bool {
        self.representation.has_fixed_layout() && self.is_stored()
    }

    /// The protobuf message of a PartialObjectMetadata.
    pub(crate) fn metadata_message(&self, entry: &Arc<Entry>, caching: Caching) -> ApiResult<Bytes> {
        static METADATA: LazyLock<Transcoder> =
            LazyLock::new(|| Transcoder::new(PartialObjectMetadata::default().facts()));
        self.cached(entry, Encoding::MetadataMessage, caching, |entry| {
            if !self.has_own_metadata() && entry.is_readable() {
                let metadata = &entry.bytes()[metadata_range(entry.bytes())?];
                let object = [PartialObjectMetadata::OPEN.as_bytes(), metadata, b"}"].concat();
                let mut out = Vec::with_capacity(object.len());
                if METADATA.transcode(&object, &mut out) {
                    return Ok(out.into());
                }
            }
            Ok(metadata_message(self.entry_meta(entry)?))
        })
    }

    /// The JSON of the metadata alone, as a PartialObjectMetadata has it.
    pub(crate) fn metadata(&self, entry: &Arc<Entry>, caching: Caching) -> ApiResult<Bytes> {
        if self.has_own_metadata() {
            return self.cached(entry, Encoding::Metadata, caching, |entry| {
                Ok(json::to_vec(&self.entry_meta(entry)?).into())
            });
        }
        if !entry.is_readable() {
            self.store.decode(entry)?;
        }
        Ok(entry.to_bytes().slice(metadata_range(entry.bytes())?))
    }

    /// True if the metadata that is rendered alone differs from the stored metadata.
    pub(crate) fn has_own_metadata(&self) -> bool {
        self.writes_trees() || !self.hidden_annotations().is_empty()
    }

    fn entry_meta(&self, entry: &Entry) -> ApiResult<ObjectMeta> {
        match self.representation.versions_have_own_rules() {
            true => self.bare_meta(&*self.object_of(entry)?),
            false => Ok(self.without_hidden(self.store.decode(entry)?.meta().clone())),
        }
    }

    /// The metadata of an object, as it is rendered alone: that of the storage version, because annotations in which a
    /// declared version keeps fields are only for readers of the whole object.
    pub(crate) fn bare_meta(&self, object: &dyn Object) -> ApiResult<ObjectMeta> {
        let meta = match self.representation.versions_have_own_rules() || object.resource().is_hub() {
            true => object.meta().clone(),
            false => conversion::try_convert(object, &self.facts.hub())?.meta().clone(),
        };
        Ok(self.without_hidden(meta))
    }

    fn without_hidden(&self, mut meta: ObjectMeta) -> ObjectMeta {
        let hidden = self.hidden_annotations();
        meta.annotations.retain(|key, _| !hidden.contains(&key.as_str()));
        meta
    }

    fn hidden_annotations(&self) -> &'static [&'static str] {
        self.facts.hub().extensions.hidden_annotations
    }

    /// The expected cost of encoding an object as `output`.
    pub(crate) fn cost(&self, entry: &Entry, output: Output) -> Cost {
        let size = entry.bytes().len();
        let is_converted = output.target != Target::PartialObject && !self.is_as_stored(entry);
        // Decoded in the storage version, converted and encoded, unless the result is cached.
        let conversion = match is_converted && entry.cached_encoding(self.id(Encoding::Json, 0)).is_none() {
            true => Cost::of_json(size) + Cost::of_json(size),
            false => Cost::default(),
        };
        Cost::of_answer(output, size) + conversion
    }

    /// The encoding `encoding` of an entry, cached as `caching` says; `make` computes it if it is not cached.
    pub(crate) fn cached(
        &self,
        entry: &Arc<Entry>,
        encoding: Encoding,
        caching: Caching,
        make: impl FnOnce(&Entry) -> ApiResult<Bytes>,
    ) -> ApiResult<Bytes> {
        let id = self.id(encoding, 0);
        match (encoding, caching) {
            (Encoding::Row, _) => entry.small_encoding(self.cache(), id, make),
            (_, Caching::Keep) => entry.encoding(self.cache(), id, make),
            (_, Caching::Scan) => entry.cached_encoding(id).map_or_else(|| make(entry), Ok),
        }
    }
}

fn prefix(facts: &ResourceFacts) -> Vec<u8> {
    let mut prefix = vec![b'{'];
    for (name, value) in [("kind", &facts.kind), ("apiVersion", &facts.api_version)] {
        json::encode_text(name, &mut prefix);
        prefix.push(b':');
        json::encode_text(value, &mut prefix);
        prefix.push(b',');
    }
    prefix
}

/// The protobuf message of a PartialObjectMetadata.
fn metadata_message(metadata: ObjectMeta) -> Bytes {
    let mut out = Vec::with_capacity(512);
    protobuf::encode(&PartialObjectMetadata { metadata }, &mut out);
    out.into()
}

/// The JSON of an object without its managed fields.
fn without_managers(json: &[u8]) -> Cow<'_, [u8]> {
    const NAME: &str = "managedFields";
    let place = json::place_of(json, "metadata").and_then(|metadata| {
        let managers = json::place_of(&json[metadata.clone()], NAME)?;
        // With the quotes and the colon of its key, and the comma in front, behind other members.
        let key = metadata.start + managers.start - NAME.len() - 3;
        (json.get(key - 1) == Some(&b',')).then_some(key - 1..metadata.start + managers.end)
    });
    match place {
        Some(place) => Cow::Owned([&json[..place.start], &json[place.end..]].concat()),
        None => Cow::Borrowed(json),
    }
}

/// The byte range of the value of `metadata` in the JSON of an object.
pub(crate) fn metadata_range(json: &[u8]) -> ApiResult<Range<usize>> {
    if let Some(place) = json::place_of(json, "metadata") {
        return Ok(place);
    }
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

impl std::fmt::Debug for Encodings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encodings")
            .field("first", &self.first)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::object::Resource as _;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::{MemoryLog, RowRef, Storage, StorageOptions};

    use super::*;

    mod stored {
        use planesmith_machinery::Resource;
        use planesmith_machinery::meta::ObjectMeta;

        /// A kind.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = "v1", kind = "Crate")]
        pub(super) struct Crate {
            /// Metadata.
            metadata: ObjectMeta,
        }
    }

    mod older {
        use planesmith_machinery::Resource;
        use planesmith_machinery::meta::ObjectMeta;

        /// The same in an older version.
        #[derive(Clone, Debug, Default, PartialEq, Resource)]
        #[resource(group = "test.example.com", version = "v1beta1", kind = "Crate", storage_version = super::stored::Crate)]
        pub(super) struct Crate {
            /// Metadata.
            metadata: ObjectMeta,
        }
    }

    #[test]
    fn conversion_costs_time_and_what_is_stored_does_not() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).expect("memory opens");
        let store = Arc::new(ResourceStore::with_versions(
            &storage,
            stored::Crate::RESOURCE,
            &Scheme::new(),
        ));
        let [own, other] =
            [stored::Crate::RESOURCE, older::Crate::RESOURCE].map(|facts| Encodings::new(facts, Arc::clone(&store)));
        let entry = Arc::new(Entry::unstored("/a", vec![b' '; 64 << 10].into(), RowRef::default()));
        let json = Output::json();
        assert_eq!(own.cost(&entry, json), Cost::default());
        assert!(other.cost(&entry, json) >= Cost::INLINE);
        let kept = |_: &Entry| ApiResult::Ok(Bytes::from("{}"));
        entry
            .encoding(storage.encodings(), other.id(Encoding::Json, 0), kept)
            .expect("it does not fail");
        assert_eq!(other.cost(&entry, json), Cost::default(), "it was converted lately");
    }

    #[test]
    fn objects_are_printed_without_their_managers() {
        for (json, bare) in [
            (
                r#"{"kind":"A","metadata":{"name":"a","managedFields":[{"f":{"a]}":{}}}]},"data":1}"#,
                r#"{"kind":"A","metadata":{"name":"a"},"data":1}"#,
            ),
            (
                r#"{"metadata":{"name":"a","managedFields":[],"x":1}}"#,
                r#"{"metadata":{"name":"a","x":1}}"#,
            ),
            // Metadata that consists of managed fields alone stays as it is.
            (
                r#"{"metadata":{"managedFields":[]}}"#,
                r#"{"metadata":{"managedFields":[]}}"#,
            ),
            (r#"{"data":{"managedFields":[]}}"#, r#"{"data":{"managedFields":[]}}"#),
            ("{}", "{}"),
        ] {
            assert_eq!(without_managers(json.as_bytes()), bare.as_bytes());
        }
    }
}
