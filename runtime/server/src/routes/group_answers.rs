//! The answers of a group to requests that none of its resources admits.

use std::sync::Arc;

use http::Method;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::ApiError;

use super::ResourceHandler;
use super::table::{Found, Refusal, is_everywhere};
use crate::discovery::{Document, ServedResource, ServedSubresource};
use crate::request::{RequestInfo, Verb};

/// The answers of a group to requests that none of its resources admits.
pub(super) trait GroupAnswers: Sync {
    /// The result for a version or resource that the group does not have.
    fn unknown(&self) -> Found;

    /// True if the paths of a resource that is at the right place include that of a request.
    fn has_path(&self, facts: &ServedResource, info: &RequestInfo) -> bool;

    /// True if the verb of a request may come with its method.
    fn has_method(&self, info: &RequestInfo) -> bool;

    /// The result for the path of a version's discovery document.
    fn document(&self, info: &RequestInfo, document: Arc<Document>) -> Found;

    /// The result for a request that the resource of `handler` refuses.
    fn refused(&self, handler: &Arc<dyn ResourceHandler>, info: &RequestInfo, refusal: Refusal) -> Found;
}

/// A group that this server alone serves: the declared ones. It has a route for each path and method.
pub(super) struct ExclusiveGroup;

/// A group that other servers may serve, too: those of custom resources. One handler answers for all paths of its
/// resources, by the verb of a request alone.
pub(super) struct OpenGroup;

impl GroupAnswers for ExclusiveGroup {
    fn unknown(&self) -> Found {
        Found::Nothing
    }

    fn has_path(&self, facts: &ServedResource, info: &RequestInfo) -> bool {
        let has_rest =
            |subresource: &ServedSubresource| subresource.open_ended && subresource.name == info.subresource();
        (info.path_name().is_empty() || !is_everywhere(facts, info))
            && (info.rest().is_empty() || facts.subresources.iter().any(has_rest))
            && match info.path_verb() {
                None => true,
                Some(verb) => info.subresource().is_empty() && facts.verbs.contains(&verb),
            }
    }

    fn has_method(&self, info: &RequestInfo) -> bool {
        match *info.method() {
            Method::HEAD => false,
            Method::GET => true,
            _ => info.verb() != Verb::Watch,
        }
    }

    fn document(&self, info: &RequestInfo, document: Arc<Document>) -> Found {
        match *info.method() {
            Method::GET => Found::Document(document),
            _ => Found::OtherMethod,
        }
    }

    fn refused(&self, _: &Arc<dyn ResourceHandler>, _: &RequestInfo, refusal: Refusal) -> Found {
        match refusal {
            Refusal::OtherMethod => Found::OtherMethod,
            Refusal::NoSuchPath => self.unknown(),
        }
    }
}

impl GroupAnswers for OpenGroup {
    fn unknown(&self) -> Found {
        Found::Elsewhere
    }

    fn has_path(&self, facts: &ServedResource, info: &RequestInfo) -> bool {
        !is_everywhere(facts, info) || matches!(info.verb(), Verb::List | Verb::Watch)
    }

    fn has_method(&self, _: &RequestInfo) -> bool {
        true
    }

    fn document(&self, _: &RequestInfo, document: Arc<Document>) -> Found {
        Found::DocumentAbove(document)
    }

    /// Refuses in the words of the handler of custom resources.
    fn refused(&self, handler: &Arc<dyn ResourceHandler>, info: &RequestInfo, refusal: Refusal) -> Found {
        let facts = handler.facts();
        if matches!(refusal, Refusal::OtherMethod) && (is_named_create(facts, info) || is_nameless_patch(facts, info)) {
            return Found::Handler(Arc::clone(handler));
        }
        let resource = GroupResource::new(facts.group.clone(), facts.plural.clone());
        let knows = |name: &str| facts.subresources.iter().any(|subresource| subresource.name == name);
        match (refusal, info.subresource()) {
            _ if !self.has_path(facts, info) => self.unknown(),
            (_, wanted) if !wanted.is_empty() && !knows(wanted) => {
                Found::Refused(ApiError::not_found(&resource, info.path_name()))
            }
            (Refusal::OtherMethod, "") if info.verb() == Verb::Update => {
                Found::Refused(ApiError::bad_request("name must be provided"))
            }
            (Refusal::OtherMethod, _) => {
                Found::Refused(ApiError::verb_not_supported(&resource, &info.verb().to_string()))
            }
            (Refusal::NoSuchPath, _) => self.unknown(),
        }
    }
}

/// True if an object is created at the path of an object, which custom kinds accept: the name in the path has no
/// effect.
fn is_named_create(facts: &ServedResource, info: &RequestInfo) -> bool {
    let is_named = !info.path_name().is_empty() && info.subresource().is_empty();
    is_named && info.verb() == Verb::Create && facts.verbs.contains(&Verb::Create)
}

/// True if a patch has the path of the collection. Its handler checks the type of the patch before it misses the name.
fn is_nameless_patch(facts: &ServedResource, info: &RequestInfo) -> bool {
    let is_nameless = info.path_name().is_empty() && info.subresource().is_empty();
    let has_verb = |verbs: &[Verb]| verbs.contains(&Verb::Patch);
    is_nameless && info.verb() == Verb::Patch && (has_verb(&facts.verbs) || has_verb(&facts.hidden_verbs))
}
