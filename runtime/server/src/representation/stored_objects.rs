//! Stored bytes as objects.

use std::fmt::Debug;
use std::sync::Arc;

use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::{Scheme, StorageMediaType};
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Draft, Loaded};

use super::declared_objects::DeclaredObjects;
use super::storage_codec::{DeclaredEncoding, StorageEncoding};
use super::stored_documents::StoredDocuments;
use super::{Custom, Declared};
use crate::features::CBOR_SERVING_AND_STORAGE;

/// The stored bytes of the objects of a kind.
pub(crate) trait Storing {
    /// Returns the reader of the kind with the storage version `hub`, whose other versions are in `scheme`.
    fn stored_objects(&self, hub: &ResourceFacts, scheme: &Scheme) -> Arc<dyn StoredObjects>;

    /// Returns the encoding in which kube-apiserver stores the kind, and reads it in any; `media_type` is its choice for kinds
    /// that have it.
    fn storage_encoding(
        &self,
        hub: &ResourceFacts,
        scheme: &Scheme,
        media_type: StorageMediaType,
    ) -> Box<dyn StorageEncoding>;
}

/// Reads the stored bytes of the objects of one kind. An object may be stored in another version than the storage version
/// of today.
pub(crate) trait StoredObjects: Debug + Send + Sync {
    /// The object that `bytes` encode, in the storage version.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode such an object.
    fn read(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>>;

    /// The object that `bytes` encode, in `version`.
    ///
    /// # Errors
    ///
    /// 500 when the bytes do not encode such an object, or it cannot be converted.
    fn read_as(&self, bytes: &[u8], version: &ResourceFacts) -> ApiResult<Box<dyn Object>>;

    /// The object that `bytes` encode: in the version in which it was stored if another program would have to convert it.
    ///
    /// # Errors
    ///
    /// As for [`Self::read`].
    fn read_in_any_version(&self, bytes: &[u8]) -> ApiResult<Box<dyn Object>>;

    /// Identifies all that decides about the bytes of a write; `None` if it is not known, or [`Self::loaded`] costs nothing.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// The form of bytes that the cache loads.
    fn loaded(&self, bytes: &[u8]) -> Loaded;

    /// The encoding of an object for the current definition of its kind; `None` if the stored one counts.
    fn reindexed(&self, bytes: &[u8]) -> Option<Draft>;

    /// True if both encode the same object, of whatever revision.
    fn is_same(&self, stored: &[u8], reindexed: &[u8]) -> bool {
        stored == reindexed
    }
}

impl Storing for Declared {
    fn stored_objects(&self, hub: &ResourceFacts, scheme: &Scheme) -> Arc<dyn StoredObjects> {
        Arc::new(DeclaredObjects::new(hub, scheme))
    }

    fn storage_encoding(
        &self,
        hub: &ResourceFacts,
        scheme: &Scheme,
        media_type: StorageMediaType,
    ) -> Box<dyn StorageEncoding> {
        Box::new(DeclaredEncoding::new(hub, scheme, media_type))
    }
}

impl Storing for Custom {
    fn stored_objects(&self, hub: &ResourceFacts, _: &Scheme) -> Arc<dyn StoredObjects> {
        Arc::new(StoredDocuments::new(hub))
    }

    fn storage_encoding(&self, hub: &ResourceFacts, scheme: &Scheme, _: StorageMediaType) -> Box<dyn StorageEncoding> {
        let documents = StoredDocuments::new(hub);
        Box::new(match scheme.features().has(&CBOR_SERVING_AND_STORAGE) {
            true => documents.in_cbor(),
            false => documents,
        })
    }
}
