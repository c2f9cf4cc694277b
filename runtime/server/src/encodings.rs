//! The encodings of one kind in one version.

mod subject;

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

pub(crate) use self::subject::Subject;
use crate::negotiation::{Output, Target};
use crate::offload::Cost;
use crate::representation::{self, ItemStart, MetadataPlace, Representation};
use crate::stores::ResourceStore;

/// Number of encoding ids that one endpoint may assign.
const NUMBERS: u32 = 64;

/// The encodings of one kind in one version, derived from the stored bytes on first use and cached beside them.
pub(crate) struct Encodings {
    facts: ResourceFacts,
    representation: &'static dyn Representation,
    store: Arc<ResourceStore>,
    first: u32,
    /// Objects written up to this revision may have been written for another definition of the kind; those that are history
    /// by now were not checked.
    since: Option<Revision>,
    item_start: ItemStart,
    /// The start of an object in the storage version.
    stored_start: ItemStart,
    metadata_place: Option<MetadataPlace>,
    /// The conversion of stored JSON to protobuf messages, prepared on first use.
    transcoder: OnceLock<Option<Transcoder>>,
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
        Self {
            facts: facts.clone(),
            representation,
            since: store.adapted_until(),
            store,
            first: NEXT.fetch_add(NUMBERS, Ordering::Relaxed),
            item_start: representation.item_start(facts),
            stored_start: representation.item_start(&facts.hub()),
            metadata_place: representation.metadata_place(facts),
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

    /// The start of an object in the endpoint's version as an item of a list.
    pub(crate) fn item_start(&self) -> &ItemStart {
        &self.item_start
    }

    /// The entries that are read before an answer with them begins; see [`Layout::unusual`](crate::representation::Layout).
    pub(crate) fn unusual<'e>(&self, entries: &'e [Arc<Entry>]) -> Vec<&'e Arc<Entry>> {
        self.representation.unusual(entries, &self.stored_start)
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
        self.read(entry, &entry.stored_bytes(), &self.facts)
    }

    /// The object of an entry that is stored in the endpoint's version, for readers of its table row alone.
    pub(crate) fn object_to_print(&self, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        let json = entry.stored_bytes();
        let json = self.representation.printed_part(&json);
        self.read(entry, &json, &self.facts)
    }

    /// The object of an entry with the stored JSON `json`, in `version`.
    fn read(&self, entry: &Entry, json: &[u8], version: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
        self.store.check_decrypted(entry)?;
        if entry.revision() == Revision(0) && self.representation.has_converter(&self.facts) {
            // The entry was converted already. Stored objects get defaults when they are read, converted ones do not.
            let mut object = version.zero();
            custom::decode(json, &mut *object, Strictness::Lenient)
                .map_err(|_| ApiError::internal("unable to read the converted object"))?;
            return Ok(object);
        }
        self.store.decode_as(json, version)
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
            let mut out = Vec::with_capacity(entry.size());
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
        let transcoder = self.transcoder().filter(|_| entry.is_readable());
        if !transcoder.is_some_and(|transcoder| transcoder.transcode(&entry.bytes(), out)) {
            protobuf::encode(&*self.object_of(entry)?, out);
        }
        Ok(())
    }

    /// True if the messages of most objects are transcoded from their JSON.
    pub(crate) fn is_transcoded(&self) -> bool {
        self.transcoder().is_some()
    }

    fn transcoder(&self) -> Option<&Transcoder> {
        let prepare = || self.representation.transcoder(&self.facts);
        self.transcoder.get_or_init(prepare).as_ref()
    }

    /// The protobuf message of a PartialObjectMetadata.
    pub(crate) fn metadata_message(&self, entry: &Arc<Entry>, caching: Caching) -> ApiResult<Bytes> {
        static METADATA: LazyLock<Transcoder> =
            LazyLock::new(|| Transcoder::new(PartialObjectMetadata::default().facts()));
        self.cached(entry, Encoding::MetadataMessage, caching, |entry| {
            if let Some(place) = self.metadata_place
                && entry.is_readable()
            {
                let json = entry.bytes();
                let metadata = &json[place(&json)?];
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
        let Some(place) = self.metadata_place else {
            return self.cached(entry, Encoding::Metadata, caching, |entry| {
                Ok(json::to_vec(&self.entry_meta(entry)?).into())
            });
        };
        if !entry.is_readable() {
            self.store.decode(entry)?;
        }
        let json = entry.to_bytes();
        Ok(json.slice(place(&json)?))
    }

    /// Finds the metadata in stored JSON; `None` if the metadata that is rendered alone differs from it.
    pub(crate) fn metadata_place(&self) -> Option<MetadataPlace> {
        self.metadata_place
    }

    fn entry_meta(&self, entry: &Entry) -> ApiResult<ObjectMeta> {
        let version = self.representation.ruling_version(&self.facts);
        self.bare_meta(&*self.read(entry, &entry.stored_bytes(), &version)?)
    }

    /// The metadata of an object, as it is rendered alone.
    pub(crate) fn bare_meta(&self, object: &dyn Object) -> ApiResult<ObjectMeta> {
        let mut meta = self.representation.metadata(object)?;
        let hidden = self.facts.hub().extensions.hidden_annotations;
        meta.annotations.retain(|key, _| !hidden.contains(&key.as_str()));
        Ok(meta)
    }

    /// The expected cost of encoding an object as `output`.
    pub(crate) fn cost(&self, entry: &Entry, output: Output) -> Cost {
        let size = entry.size();
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

/// The protobuf message of a PartialObjectMetadata.
fn metadata_message(metadata: ObjectMeta) -> Bytes {
    let mut out = Vec::with_capacity(512);
    protobuf::encode(&PartialObjectMetadata { metadata }, &mut out);
    out.into()
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
}
