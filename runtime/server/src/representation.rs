//! The behaviour in which declared and custom kinds differ.
//!
//! Objects of a declared kind are typed values: all versions have one set of rules, those of the storage version, and what
//! a type does not have cannot be sent. Objects of a custom kind are documents: each version has a schema and rules of its
//! own, and the kind may be defined anew while the server runs.
//!
//! Each module has one part of the trait, with its two implementations beside each other.

mod answers;
mod declared_objects;
mod documents;
mod expected;
mod layout;
mod scale_columns;
mod scales;
mod storage_codec;
mod stored_documents;
mod stored_objects;
mod versions;

use std::fmt::Debug;

use planesmith_machinery::resource::ResourceFacts;

pub(crate) use self::answers::{Answers, not_a_list};
pub use self::documents::check_changed_kind;
pub(crate) use self::documents::{JSON_PATCH, MERGE_PATCH, PatchKind, PatchedVersion, SentDocuments, read_typed};
pub(crate) use self::expected::{Expected, Mismatch, canonical, is_of_machinery};
pub(crate) use self::layout::{ItemStart, Layout, MetadataPlace, list_head, place_of_metadata};
pub(crate) use self::scale_columns::ScaleColumns;
pub(crate) use self::scales::{NOT_SET, Scales, replicas_at};
pub use self::storage_codec::{Decoded, StorageCodec};
pub(crate) use self::storage_codec::{with_gap, without_gap};
pub(crate) use self::stored_objects::{StoredObjects, Storing};
pub(crate) use self::versions::{Adapted, Versions};

/// The representation of the objects of a kind.
pub(crate) trait Representation:
    Answers + SentDocuments + Layout + Versions + Storing + Scales + Debug + Sync
{
}

/// Objects are values of a type.
#[derive(Debug)]
pub(crate) struct Declared;

/// Objects are documents with a schema. They distinguish empty from absent themselves.
#[derive(Debug)]
pub(crate) struct Custom;

impl Representation for Declared {}

impl Representation for Custom {}

/// The representation of the objects of a kind.
pub(crate) fn of(kind: &ResourceFacts) -> &'static dyn Representation {
    match kind.custom {
        Some(_) => &Custom,
        None => &Declared,
    }
}
