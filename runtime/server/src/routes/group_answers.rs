//! The answers of a group to requests that none of its resources admits.

use std::sync::Arc;

use http::Method;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::status::ApiError;

use super::ResourceHandler;
use super::table::{Found, Refusal};
use crate::discovery::ServedResource;
use crate::request::{RequestInfo, Verb};

/// The answers of a group to requests that none of its resources admits.
pub(super) trait GroupAnswers: Sync {
    /// The result for a version or resource that the group does not have.
    fn unknown(&self) -> Found;

    /// The result for a request that the resource of `handler` refuses.
    fn refused(&self, handler: &Arc<dyn ResourceHandler>, info: &RequestInfo, refusal: Refusal) -> Found;
}

/// A group that this server alone serves: the declared ones.
pub(super) struct ExclusiveGroup;

/// A group that other servers may serve, too: those of custom resources.
pub(super) struct OpenGroup;

impl GroupAnswers for ExclusiveGroup {
    fn unknown(&self) -> Found {
        Found::Nothing
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

    /// Refuses in the words of the handler of custom resources, which answers for all paths of its resources.
    fn refused(&self, handler: &Arc<dyn ResourceHandler>, info: &RequestInfo, refusal: Refusal) -> Found {
        let facts = handler.facts();
        if matches!(refusal, Refusal::OtherMethod) && is_named_create(facts, info) {
            return Found::Handler(Arc::clone(handler));
        }
        let resource = GroupResource::new(facts.group.clone(), facts.plural.clone());
        let is_everywhere = facts.scope == Scope::Namespaced && info.namespace().is_empty();
        let knows = |name: &str| facts.subresources.iter().any(|subresource| subresource.name == name);
        match (refusal, info.subresource()) {
            _ if is_everywhere || info.verb() == Verb::Proxy => Found::Elsewhere,
            (_, wanted) if !wanted.is_empty() && !knows(wanted) => {
                Found::Refused(ApiError::not_found(&resource, info.path_name()))
            }
            (Refusal::OtherMethod, _) if *info.method() == Method::HEAD || info.verb() == Verb::Watch => {
                Found::OtherMethod
            }
            (Refusal::OtherMethod, "") if matches!(info.verb(), Verb::Update | Verb::Patch) => {
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
