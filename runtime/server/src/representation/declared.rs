//! Kinds that are declared as types.

use std::future::ready;

use bytes::Bytes;
use http::request::Parts;
use planesmith_dynamic::unstructured;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts};
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_machinery::value::{self, Slot, Struct, Value};
use planesmith_machinery::{conversion, defaulting};
use planesmith_patch::apply::Sent;
use planesmith_patch::fields::{self, Set};
use planesmith_patch::managers::{self, ScaleManagers};
use serde_json::Value as Tree;

use super::{Completion, Converted, Representation};
use crate::negotiation::{Acceptable, Output, negotiate, with_empty_details};
use crate::request::Verb;

/// Objects are values of a type.
#[derive(Debug)]
pub(crate) struct Declared;

impl Representation for Declared {
    fn verbs(&self) -> [Verb; 8] {
        Verb::STORED
    }

    fn sorts_subresources(&self) -> bool {
        true
    }

    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        negotiate(request, acceptable)
    }

    fn list_type(&self, kind: &ResourceFacts) -> String {
        go_type(&kind.group, &kind.list_kind)
    }

    fn not_a_list(&self, kind: &ResourceFacts) -> ApiError {
        not_a_list(&kind.group, &kind.kind)
    }

    fn requires_type_meta(&self) -> bool {
        false
    }

    fn merges_strategically(&self) -> bool {
        true
    }

    fn unsupported_patch(&self, _: &[&'static str]) -> ApiError {
        with_empty_details(ApiError::new(
            Reason::UnsupportedMediaType,
            "415: Unsupported Media Type",
        ))
    }

    fn emptied_fields(&self, facts: &'static StructFacts, json: &[u8]) -> Set<'static> {
        fields::sent_empty(facts, json)
    }

    fn sent_empty(&self, json: &Bytes) -> SentEmpty {
        SentEmpty::new(json)
    }

    fn resets_managers(&self, json: &[u8]) -> bool {
        managers::resets_managers(json)
    }

    fn read_applied(&self, document: Tree, sent: &Sent, target: &mut dyn Object) -> Result<(), String> {
        read_typed(&document, sent, target)
    }

    fn writes_trees(&self) -> bool {
        false
    }

    fn has_fixed_layout(&self) -> bool {
        true
    }

    fn is_redefinable(&self) -> bool {
        false
    }

    fn versions_have_own_rules(&self) -> bool {
        false
    }

    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a> {
        Box::pin(ready(conversion::try_convert(&*object, to)))
    }

    fn completion(&self, sent: &ResourceFacts) -> Option<Completion> {
        // An object of another version has only the defaults of that version.
        (!sent.is_hub()).then_some(defaulting::set_defaults)
    }

    fn has_converter(&self, _: &ResourceFacts) -> bool {
        false
    }

    fn needs_converter(&self, _: &[u8], _: &ResourceFacts) -> bool {
        false
    }

    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64 {
        kind.hub().extensions.check_cost_per_byte.saturating_mul(bytes as u64)
    }

    fn restores_metadata(&self) -> bool {
        false
    }

    fn counts_status(&self, _: &ResourceFacts) -> bool {
        false
    }

    fn requires_replicas(&self) -> bool {
        false
    }

    fn check_scale(&self, _: &dyn Object, _: &ScaleFacts) -> ApiResult<()> {
        Ok(())
    }

    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()> {
        value::change_at(object, &scale.spec_replicas, &mut |value| set_number(value, replicas));
        Ok(())
    }

    fn unreadable_scale(&self) -> Option<&'static str> {
        None
    }

    fn check_scale_apply(&self, _: &ScaleManagers<'_>) -> ApiResult<()> {
        Ok(())
    }
}

/// Reads the result of the apply `sent` into `target`, a zero value of a declared type.
///
/// # Errors
///
/// The reason that the document is not such a value.
pub(crate) fn read_typed(document: &Tree, sent: &Sent, target: &mut dyn Struct) -> Result<(), String> {
    unstructured::read(document, target)
        .map_err(|why| format!("unable to convert unstructured object to {}: {why}", sent.kind()))
}

fn set_number(value: &mut dyn Value, number: i32) {
    match value.slot() {
        Slot::Int32(value) => *value = number,
        Slot::Int64(value) => *value = i64::from(number),
        Slot::Optional(value) => set_number(value.insert(), number),
        _ => {}
    }
}

/// 406: the list of metadata cannot be requested of a single object.
pub(crate) fn not_a_list(group: &str, kind: &str) -> ApiError {
    let kind = go_type(group, kind);
    let why = "you requested PartialObjectMetadataList, but the requested object is not a list";
    ApiError::new(Reason::NotAcceptable, format!("{why} ({kind})"))
}

/// The Go type behind a kind, as messages print it.
fn go_type(group: &str, kind: &str) -> String {
    let package = group
        .split('.')
        .next()
        .filter(|package| !package.is_empty())
        .unwrap_or("core");
    format!("*{package}.{kind}")
}
