//! Kinds that are declared as types.

use bytes::Bytes;
use http::request::Parts;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_patch::fields::{self, Set};
use planesmith_patch::managers;

use super::Representation;
use crate::negotiation::{Acceptable, Output, negotiate, with_empty_details};
use crate::request::Verb;

/// Objects are values of a type.
#[derive(Debug)]
pub(crate) struct Declared;

impl Representation for Declared {
    fn verbs(&self) -> [Verb; 8] {
        [
            Verb::Create,
            Verb::Delete,
            Verb::DeleteCollection,
            Verb::Get,
            Verb::List,
            Verb::Patch,
            Verb::Update,
            Verb::Watch,
        ]
    }

    fn sorts_subresources(&self) -> bool {
        true
    }

    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        negotiate(request, acceptable)
    }

    fn list_type(&self, kind: &ResourceFacts) -> String {
        go_type(kind.group, kind.list_kind)
    }

    fn not_a_list(&self, kind: &ResourceFacts) -> ApiError {
        not_a_list(kind.group, kind.kind)
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

    fn emptied(&self, facts: &'static StructFacts, json: &[u8]) -> Set<'static> {
        fields::emptied(facts, json)
    }

    fn sent_empty(&self, json: &Bytes) -> SentEmpty {
        SentEmpty::new(json)
    }

    fn forgets_managers(&self, json: &[u8]) -> bool {
        managers::forgets_managers(json)
    }

    fn writes_trees(&self) -> bool {
        false
    }

    fn is_redefinable(&self) -> bool {
        false
    }

    fn versions_have_own_rules(&self) -> bool {
        false
    }

    fn has_converter(&self, _: &'static ResourceFacts) -> bool {
        false
    }

    fn check_cost(&self, kind: &'static ResourceFacts, bytes: usize) -> u64 {
        kind.hub().extensions.check_cost_per_byte.saturating_mul(bytes as u64)
    }

    fn restores_metadata(&self) -> bool {
        false
    }

    fn counts_status(&self, _: &ResourceFacts) -> bool {
        false
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
