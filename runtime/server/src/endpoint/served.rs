//! The entry of a kind in discovery and in the router, derived from its facts.

use std::borrow::Cow;

use planesmith_machinery::feature::Features;
use planesmith_machinery::resource::{ResourceFacts, SubresourceKind};

use super::Subresources;
use crate::discovery::{ServedKind, ServedResource, ServedSubresource};
use crate::features::STORAGE_VERSION_HASH;
use crate::representation;
use crate::request::Verb;

/// The served resource of a kind on a server with `features`. Declared subresources without a handler are left out.
pub(super) fn served(facts: &ResourceFacts, handlers: &Subresources, features: &Features) -> ServedResource {
    let representation = representation::of(facts);
    let mut verbs = representation.verbs().to_vec();
    if facts.behavior.create_only {
        verbs = vec![Verb::Create];
    }
    if facts.behavior.read_only {
        verbs = vec![Verb::Get, Verb::List];
    }
    if facts.behavior.no_delete_collection {
        verbs.retain(|verb| *verb != Verb::DeleteCollection);
    }
    let subresources = representation
        .subresources(facts)
        .into_iter()
        .filter_map(|subresource| {
            let name = Cow::Borrowed(subresource.name);
            if let Some(handler) = handlers.get(subresource.name) {
                let served = handler.served();
                return Some(ServedSubresource { name, ..served });
            }
            let kind = match subresource.kind {
                SubresourceKind::Status => None,
                SubresourceKind::Scale(_) => Some(ServedKind {
                    group: Cow::Borrowed("autoscaling"),
                    version: Cow::Borrowed("v1"),
                    kind: Cow::Borrowed("Scale"),
                }),
                SubresourceKind::Other => return None,
            };
            Some(ServedSubresource {
                name,
                kind,
                verbs: vec![Verb::Get, Verb::Patch, Verb::Update],
                open_ended: false,
            })
        });
    let hub = facts.hub();
    let is_hashed = facts.behavior.is_stored() && features.has(&STORAGE_VERSION_HASH);
    let stored_as = is_hashed.then_some(ServedKind {
        group: hub.group.clone(),
        version: hub.hashed_version.clone(),
        kind: hub.kind.clone(),
    });
    ServedResource {
        group: facts.group.clone(),
        version: facts.version.clone(),
        plural: facts.plural.clone(),
        singular: facts.singular.clone(),
        kind: facts.kind.clone(),
        short_names: facts.short_names.to_vec(),
        categories: facts.categories.to_vec(),
        scope: facts.scope,
        verbs,
        hidden_verbs: Vec::new(),
        stored_as,
        subresources: subresources.collect(),
        is_custom: facts.custom.is_some(),
    }
}
