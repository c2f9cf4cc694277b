//! Objects of a custom kind, as they are stored: documents, each in the version in which it was written.

use planesmith_dynamic::custom;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Draft, Loaded};
use serde_json::Value as Tree;

use super::stored_objects::StoredObjects;

/// The stored objects of a custom kind.
#[derive(Debug)]
pub(super) struct StoredDocuments {
    hub: ResourceFacts,
    /// True if a store in which others write, too, gets CBOR instead of JSON.
    pub(super) writes_cbor: bool,
}

impl StoredDocuments {
    /// The objects of the kind with the storage version `hub`.
    pub(super) fn new(hub: &ResourceFacts) -> Self {
        Self {
            hub: hub.clone(),
            writes_cbor: false,
        }
    }

    /// The same objects, which a store in which others write, too, gets in CBOR.
    pub(super) fn in_cbor(self) -> Self {
        Self {
            writes_cbor: true,
            ..self
        }
    }

    /// The object that `bytes` encode, in the current definition of the kind; `None` if it is not of the storage version: it
    /// is converted when it is read.
    pub(super) fn adapted(&self, bytes: &[u8]) -> Option<json::Encoded> {
        json::type_meta(bytes)
            .ok()
            .filter(|stored| stored.api_version == self.hub.api_version)?;
        let mut object = self.hub.zero();
        custom::decode_stored(bytes, &mut *object).ok()?;
        Some(json::encode_for_storage(&*object))
    }
}

impl StoredObjects for StoredDocuments {
    fn read(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>> {
        custom::read(bytes, &self.hub)
    }

    fn read_as(&self, bytes: &[u8], version: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
        custom::read(bytes, version)
    }

    fn read_in_any_version(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>> {
        if custom::needs_converter(bytes, &self.hub) {
            let stored = json::type_meta(bytes).ok();
            if let Some(version) = stored.and_then(|stored| self.hub.defined_version(&stored.api_version)) {
                return custom::read(bytes, &version);
            }
        }
        self.read(bytes)
    }

    fn loaded(&self, bytes: &[u8]) -> Loaded {
        match bytes.starts_with(b"{") {
            // It is converted when it is read.
            true => Loaded::AsStored,
            false => Loaded::Unreadable,
        }
    }

    fn reindexed(&self, bytes: &[u8]) -> Option<Draft> {
        let encoded = self.adapted(bytes)?;
        Some(Draft::new(encoded.bytes, encoded.gap))
    }

    fn is_same(&self, stored: &[u8], reindexed: &[u8]) -> bool {
        stored == reindexed || is_same_document(stored, reindexed)
    }
}

/// True if two documents differ in their layout and their resourceVersion at most.
pub(super) fn is_same_document(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let (mut tree, _) = json::parse_value(bytes, Strictness::Lenient).ok()?;
        tree.pointer_mut("/metadata")
            .and_then(Tree::as_object_mut)?
            .remove("resourceVersion");
        Some(tree)
    };
    read(one).is_some_and(|one| Some(one) == read(other))
}
