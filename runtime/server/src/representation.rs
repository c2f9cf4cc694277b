//! The behaviour in which declared and custom kinds differ.
//!
//! Objects of a declared kind are typed values: all versions have one set of rules, those of the storage version, and what
//! a type does not have cannot be sent. Objects of a custom kind are documents: each version has a schema and rules of its
//! own, and the kind may be defined anew while the server runs.

mod custom;
mod declared;

use std::fmt::Debug;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::request::Parts;
use planesmith_machinery::environment::Environment;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::apply::Sent;
use planesmith_patch::fields::Set;
use planesmith_patch::managers::ScaleManagers;
use serde_json::Value as Tree;

pub(crate) use self::custom::Custom;
pub(crate) use self::declared::{Declared, not_a_list, read_typed};
use crate::negotiation::{Acceptable, Output};
use crate::request::Verb;

/// A pending conversion; it fails with 500 if the converter does.
pub(crate) type Converted<'a> = BoxFuture<'a, ApiResult<Box<dyn Object>>>;

/// Completes an object of the storage version.
pub(crate) type Completion = fn(&mut dyn Object, &Environment);

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

    /// True if a body has to name its kind and version, which are completed otherwise.
    fn requires_type_meta(&self) -> bool;

    /// True if a strategic merge patch finds out how lists are merged.
    fn merges_strategically(&self) -> bool;

    /// The error for a patch of an unknown type; `accepted` are the media types of patches of any kind.
    fn unsupported_patch(&self, accepted: &[&'static str]) -> ApiError;

    /// Fields that the document `json` sets to empty, of an object that does not distinguish empty from absent.
    fn emptied_fields(&self, facts: &'static StructFacts, json: &[u8]) -> Set<'static>;

    /// Fields that the body `json` sets to empty, for messages about an object that does not show them.
    fn sent_empty(&self, json: &Bytes) -> SentEmpty;

    /// True if a document without managers says that the managers of its object are to be forgotten.
    fn resets_managers(&self, json: &[u8]) -> bool;

    /// Reads the result of the apply `sent` into `target`, a zero object.
    ///
    /// # Errors
    ///
    /// The reason that the document is not an object of its kind.
    fn read_applied(&self, document: Tree, sent: &Sent, target: &mut dyn Object) -> Result<(), String>;

    /// True if objects are written as trees: all keys are sorted, and items of lists carry their kind and version.
    fn writes_trees(&self) -> bool;

    /// True if the bytes of every object begin as the encoder of a type writes them, unless they cannot be read.
    fn has_fixed_layout(&self) -> bool;

    /// True if the kind may be defined anew, so that objects may have been written for another definition.
    fn is_redefinable(&self) -> bool;

    /// True if each version has fields, defaults and rules of its own, and not those of the storage version.
    fn versions_have_own_rules(&self) -> bool;

    /// Converts an object to the version `to` of its kind, without blocking the thread.
    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a>;

    /// The function that completes an object before it is stored, which came in the version `sent` and is in the storage
    /// version; `None` if nothing is missing.
    fn completion(&self, sent: &ResourceFacts) -> Option<Completion>;

    /// True if another program converts objects of `kind`, so that work on them may wait for it.
    fn has_converter(&self, kind: &ResourceFacts) -> bool;

    /// True if another program has to convert the stored object `bytes` to the version `kind`.
    fn needs_converter(&self, bytes: &[u8], kind: &ResourceFacts) -> bool;

    /// The expected cost of the rules in expressions for an object of `kind` with `bytes` bytes, in nanoseconds.
    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64;

    /// True if the metadata of an object is restored, except for its managers, when its status is written. Otherwise it
    /// is not: agents annotate objects together with their status.
    fn restores_metadata(&self) -> bool;

    /// True if a change of the status of `kind` increments `metadata.generation`.
    fn counts_status(&self, kind: &ResourceFacts) -> bool;

    /// True if an absent number of replicas is an error, and not 0.
    fn requires_replicas(&self) -> bool;

    /// Checks the types of the fields that a Scale takes from an object.
    ///
    /// # Errors
    ///
    /// 500 when another type is where the Scale has a number or a text.
    fn check_scale(&self, object: &dyn Object, scale: &ScaleFacts) -> ApiResult<()>;

    /// Sets the number of replicas of an object.
    ///
    /// # Errors
    ///
    /// As for [`Self::check_scale`].
    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()>;

    /// The message for any Scale that cannot be read; `None` if it says what is wrong.
    fn unreadable_scale(&self) -> Option<&'static str>;

    /// Checks that a Scale can be applied to an object with `managers`.
    ///
    /// # Errors
    ///
    /// 500 when objects of the kind have no Scale that can be applied.
    fn check_scale_apply(&self, managers: &ScaleManagers<'_>) -> ApiResult<()>;
}

/// The representation of the objects of a kind.
pub(crate) fn of(kind: &ResourceFacts) -> &'static dyn Representation {
    match kind.custom {
        Some(_) => &Custom,
        None => &Declared,
    }
}
