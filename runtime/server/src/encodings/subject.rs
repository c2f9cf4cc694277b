//! An object to be rendered, and its parts in the encodings of its kind.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{conversion, json, protobuf};
use planesmith_store::{Entry, Revision};

use super::{Caching, Encodings, metadata_message};

/// An object to be rendered.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// A stored entry.
    Entry(&'a Arc<Entry>),
    /// A deleted or replaced entry, rendered with a later revision.
    Former(&'a Entry, Revision),
    /// An object in the endpoint's version that is not stored.
    Object(&'a dyn Object),
}

/// An owned or borrowed object.
pub(crate) enum ObjectRef<'a> {
    Owned(Box<dyn Object>),
    Borrowed(&'a dyn Object),
}

impl Deref for ObjectRef<'_> {
    type Target = dyn Object;

    fn deref(&self) -> &dyn Object {
        match self {
            ObjectRef::Owned(object) => &**object,
            ObjectRef::Borrowed(object) => *object,
        }
    }
}

impl<'a> Subject<'a> {
    /// Compact JSON.
    pub(crate) fn json(self, encodings: &Encodings) -> ApiResult<Bytes> {
        match self {
            Subject::Entry(entry) => encodings.json(entry, Caching::Keep),
            Subject::Former(entry, revision) if encodings.is_as_stored(entry) => Ok(entry.bytes_at(revision)),
            Subject::Former(..) => Ok(json::to_vec(&*self.object(encodings)?).into()),
            Subject::Object(object) => Ok(json::to_vec(object).into()),
        }
    }

    /// The object in the endpoint's version.
    pub(crate) fn object(self, encodings: &Encodings) -> ApiResult<ObjectRef<'a>> {
        match self {
            Subject::Entry(entry) => encodings.object_of(entry).map(ObjectRef::Owned),
            Subject::Former(entry, revision) => {
                encodings.object(&entry.stored_bytes_at(revision)).map(ObjectRef::Owned)
            }
            Subject::Object(object) => Ok(ObjectRef::Borrowed(object)),
        }
    }

    /// The resourceVersion in its metadata.
    pub(crate) fn resource_version(self, encodings: &Encodings) -> ApiResult<String> {
        match self {
            Subject::Entry(entry) if entry.revision() > Revision(0) => Ok(entry.revision().to_string()),
            Subject::Former(_, revision) => Ok(revision.to_string()),
            Subject::Entry(_) | Subject::Object(_) => Ok(self.object(encodings)?.meta().resource_version.clone()),
        }
    }

    /// The object in the version whose columns are printed; `None` if that is the endpoint's.
    pub(crate) fn printed(self, facts: &ResourceFacts, encodings: &Encodings) -> ApiResult<Option<Box<dyn Object>>> {
        let printed = planesmith_machinery::table::printed(facts);
        if printed == *facts {
            return Ok(None);
        }
        match self {
            Subject::Entry(entry) => encodings.stored(&entry.stored_bytes()),
            Subject::Former(entry, revision) => encodings.stored(&entry.stored_bytes_at(revision)),
            Subject::Object(object) => conversion::try_convert(object, &printed),
        }
        .map(Some)
    }

    /// Compact JSON of the metadata.
    pub(crate) fn metadata(self, encodings: &Encodings) -> ApiResult<Bytes> {
        match self {
            Subject::Entry(entry) => encodings.metadata(entry, Caching::Keep),
            Subject::Former(..) | Subject::Object(_) => Ok(json::to_vec(&self.bare_meta(encodings)?).into()),
        }
    }

    /// The protobuf message.
    pub(crate) fn message(self, encodings: &Encodings) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return encodings.message(entry, Caching::Keep);
        }
        let mut out = Vec::new();
        protobuf::encode(&*self.object(encodings)?, &mut out);
        Ok(out.into())
    }

    /// The protobuf message of the PartialObjectMetadata.
    pub(crate) fn metadata_message(self, encodings: &Encodings) -> ApiResult<Bytes> {
        if let Subject::Entry(entry) = self {
            return encodings.metadata_message(entry, Caching::Keep);
        }
        Ok(metadata_message(self.bare_meta(encodings)?))
    }

    /// The metadata as it is rendered alone.
    pub(crate) fn bare_meta(self, encodings: &Encodings) -> ApiResult<ObjectMeta> {
        encodings.bare_meta(&*self.object(encodings)?)
    }
}
