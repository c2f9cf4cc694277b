//! Kinds that are defined while the server runs.

use bytes::Bytes;
use http::request::Parts;
use planesmith_dynamic::custom::CustomKind;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::fields::Set;

use super::Representation;
use crate::negotiation::{Acceptable, Output, negotiate_custom};
use crate::request::Verb;

/// Objects are documents with a schema. They distinguish empty from absent themselves.
#[derive(Debug)]
pub(crate) struct Custom;

impl Representation for Custom {
    fn verbs(&self) -> [Verb; 8] {
        [
            Verb::Delete,
            Verb::DeleteCollection,
            Verb::Get,
            Verb::List,
            Verb::Patch,
            Verb::Create,
            Verb::Update,
            Verb::Watch,
        ]
    }

    fn sorts_subresources(&self) -> bool {
        false
    }

    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        negotiate_custom(request, acceptable)
    }

    fn list_type(&self, _: &ResourceFacts) -> String {
        "*unstructured.UnstructuredList".to_owned()
    }

    fn not_a_list(&self, _: &ResourceFacts) -> ApiError {
        // A tree reports its missing items before it is found not to be a list.
        ApiError::unnamed(500, "content is not a list")
    }

    fn requires_type_meta(&self) -> bool {
        true
    }

    fn merges_strategically(&self) -> bool {
        // Schemas do not declare how lists are merged.
        false
    }

    fn unsupported_patch(&self, accepted: &[&'static str]) -> ApiError {
        ApiError::unsupported_media_type(accepted)
    }

    fn emptied(&self, _: &'static StructFacts, _: &[u8]) -> Set<'static> {
        Set::new()
    }

    fn sent_empty(&self, _: &Bytes) -> SentEmpty {
        SentEmpty::default()
    }

    fn forgets_managers(&self, _: &[u8]) -> bool {
        // Documents lose an empty list earlier.
        false
    }

    fn writes_trees(&self) -> bool {
        true
    }

    fn is_redefinable(&self) -> bool {
        true
    }

    fn versions_have_own_rules(&self) -> bool {
        true
    }

    fn has_converter(&self, kind: &'static ResourceFacts) -> bool {
        CustomKind::of(kind).is_some_and(CustomKind::has_converter)
    }

    fn check_cost(&self, kind: &'static ResourceFacts, bytes: usize) -> u64 {
        CustomKind::of(kind).map_or(0, |custom| custom.check_cost(bytes))
    }

    fn restores_metadata(&self) -> bool {
        true
    }

    fn counts_status(&self, kind: &ResourceFacts) -> bool {
        kind.subresource("status").is_none()
    }
}
