//! The differences between declared and custom kinds, of which each is one answer to the same questions.
//!
//! Objects of a declared kind are typed values: all versions have one set of rules, those of the storage version, and what
//! a type does not have cannot be sent. Objects of a custom kind are documents: each version has a schema and rules of its
//! own, and the kind may be defined anew while the server runs.

mod custom;
mod declared;

use std::fmt::Debug;

use bytes::Bytes;
use http::request::Parts;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::fields::Set;

pub(crate) use self::custom::Custom;
pub(crate) use self::declared::{Declared, not_a_list};
use crate::negotiation::{Acceptable, Output};
use crate::request::Verb;

/// The representation of the objects of a kind.
pub(crate) trait Representation: Debug + Sync {
    /// The verbs of a stored kind, in the order in which discovery lists them.
    fn verbs(&self) -> [Verb; 8];

    /// True if discovery lists subresources by name, and not in the order of their declaration.
    fn sorts_subresources(&self) -> bool;

    /// Negotiates the encoding of an answer with the client.
    ///
    /// # Errors
    ///
    /// 406 when the client accepts none of the acceptable encodings.
    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output>;

    /// The Go type of a list of `kind`, in messages.
    fn list_type(&self, kind: &ResourceFacts) -> String;

    /// The error for a request of one object of `kind` as a list of metadata.
    fn not_a_list(&self, kind: &ResourceFacts) -> ApiError;

    /// True if a body has to name its kind and version, which are complemented otherwise.
    fn requires_type_meta(&self) -> bool;

    /// True if a strategic merge patch finds out how lists are merged.
    fn merges_strategically(&self) -> bool;

    /// The error for a patch of an unknown type; `accepted` are the media types of patches of any kind.
    fn unsupported_patch(&self, accepted: &[&'static str]) -> ApiError;

    /// Fields that the document `json` sets to empty, of an object that does not distinguish empty from absent.
    fn emptied(&self, facts: &'static StructFacts, json: &[u8]) -> Set<'static>;

    /// Fields that the body `json` sets to empty, for messages about an object that does not show them.
    fn sent_empty(&self, json: &Bytes) -> SentEmpty;

    /// True if a document without managers says that the managers of its object are to be forgotten.
    fn forgets_managers(&self, json: &[u8]) -> bool;

    /// True if objects are written as trees: all keys are sorted, and items of lists carry their kind and version.
    fn writes_trees(&self) -> bool;

    /// True if the kind may be defined anew, so that objects may have been written for another definition.
    fn is_redefinable(&self) -> bool;

    /// True if each version has fields, defaults and rules of its own, and not those of the storage version.
    fn versions_have_own_rules(&self) -> bool;

    /// True if another program converts objects of `kind`, so that work on them may wait for it.
    fn has_converter(&self, kind: &'static ResourceFacts) -> bool;

    /// The expected cost of the rules in expressions for an object of `kind` with `bytes` bytes, in nanoseconds.
    fn check_cost(&self, kind: &'static ResourceFacts, bytes: usize) -> u64;

    /// True if the metadata of an object is restored, except for its managers, when its status is written. Otherwise it
    /// is not: agents annotate objects together with their status.
    fn restores_metadata(&self) -> bool;

    /// True if a change of the status of `kind` makes a new generation.
    fn counts_status(&self, kind: &ResourceFacts) -> bool;
}

/// The representation of the objects of a kind.
pub(crate) fn of(kind: &ResourceFacts) -> &'static dyn Representation {
    match kind.custom {
        Some(_) => &Custom,
        None => &Declared,
    }
}
