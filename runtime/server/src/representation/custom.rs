//! Kinds that are defined while the server runs.

use bytes::Bytes;
use http::request::Parts;
use planesmith_dynamic::custom::{self, AsCustom, CustomKind, CustomObject};
use planesmith_dynamic::unstructured::{nested_integer, nested_text, set_nested};
use planesmith_machinery::defaulting;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, ScaleFacts};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::apply::Sent;
use planesmith_patch::fields::Set;
use planesmith_patch::managers::ScaleManagers;
use serde_json::Value as Tree;

use super::{Completion, Converted, Representation};
use crate::negotiation::{Acceptable, Output, negotiate_custom};
use crate::request::Verb;

/// kube-apiserver's message for any invalid Scale of a custom object.
const UNREADABLE_SCALE: &str = "no kind is registered for the type v1.Scale in scheme \
                                \"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781\"";

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

    fn emptied_fields(&self, _: &'static StructFacts, _: &[u8]) -> Set<'static> {
        Set::new()
    }

    fn sent_empty(&self, _: &Bytes) -> SentEmpty {
        SentEmpty::default()
    }

    fn resets_managers(&self, _: &[u8]) -> bool {
        // Documents lose an empty list earlier.
        false
    }

    fn read_applied(&self, mut document: Tree, _: &Sent, target: &mut dyn Object) -> Result<(), String> {
        if let Some(Tree::Object(metadata)) = document.get_mut("metadata") {
            metadata.remove("managedFields");
        }
        custom::read_applied(document, target).map_err(|error| error.to_string())
    }

    fn writes_trees(&self) -> bool {
        true
    }

    fn has_fixed_layout(&self) -> bool {
        false
    }

    fn is_redefinable(&self) -> bool {
        true
    }

    fn versions_have_own_rules(&self) -> bool {
        true
    }

    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a> {
        Box::pin(async move {
            match object.as_custom() {
                Some(custom) => Ok(Box::new(custom::convert_later(custom, to).await?) as Box<dyn Object>),
                None => Ok(object),
            }
        })
    }

    fn completion(&self, _: &ResourceFacts) -> Option<Completion> {
        Some(|object, environment| {
            object.as_custom_mut().map(CustomObject::prune);
            defaulting::set_defaults(object, environment);
        })
    }

    fn has_converter(&self, kind: &ResourceFacts) -> bool {
        CustomKind::of(kind).is_some_and(CustomKind::has_converter)
    }

    fn needs_converter(&self, bytes: &[u8], kind: &ResourceFacts) -> bool {
        custom::needs_converter(bytes, kind)
    }

    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64 {
        CustomKind::of(kind).map_or(0, |custom| custom.check_cost(bytes))
    }

    fn restores_metadata(&self) -> bool {
        true
    }

    fn counts_status(&self, kind: &ResourceFacts) -> bool {
        kind.subresource("status").is_none()
    }

    fn requires_replicas(&self) -> bool {
        true
    }

    fn check_scale(&self, object: &dyn Object, scale: &ScaleFacts) -> ApiResult<()> {
        match object.as_custom() {
            Some(object) => check_types(&object.to_document(), scale).map_err(|why| ApiError::unnamed(500, why)),
            None => Ok(()),
        }
    }

    fn set_replicas(&self, object: &mut dyn Object, scale: &ScaleFacts, replicas: i32) -> ApiResult<()> {
        self.check_scale(object, scale)?;
        let mut set = Ok(());
        if let Some(object) = object.as_custom_mut() {
            object.change(|document| set = set_nested(document, &scale.spec_replicas, replicas.into()));
        }
        set.map_err(|why| ApiError::unnamed(500, why))
    }

    fn unreadable_scale(&self) -> Option<&'static str> {
        Some(UNREADABLE_SCALE)
    }

    fn check_scale_apply(&self, managers: &ScaleManagers<'_>) -> ApiResult<()> {
        // A Scale is not a version of a custom kind.
        let why = "request to convert CR to an invalid group/version: autoscaling/v1";
        let why = format!("failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: {why}");
        let why = match managers.of_scale().is_empty() {
            true => format!("failed to create manager for existing fields: {why}"),
            false => why,
        };
        Err(ApiError::unnamed(500, why))
    }
}

/// Checks the types of the fields that a Scale takes from a document: it may be stored from before its definition was
/// changed.
fn check_types(document: &Tree, scale: &ScaleFacts) -> Result<(), String> {
    for path in [&scale.spec_replicas, &scale.status_replicas] {
        nested_integer(document, path)?;
    }
    if !scale.selector.is_empty() {
        nested_text(document, &scale.selector)?;
    }
    Ok(())
}
