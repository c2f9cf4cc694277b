//! The compiled table.

use std::collections::HashMap;
use std::sync::Arc;

use http::Method;
use planesmith_machinery::resource::Scope;

use super::{ResourceHandler, ServedResource};
use crate::request::{RequestInfo, Verb};

/// Handlers by group, version and resource; never changes.
#[derive(Default)]
pub struct RouteTable {
    groups: HashMap<Box<str>, GroupRoutes>,
}

struct GroupRoutes {
    /// Unknown versions and resources are someone else's.
    open: bool,
    versions: Vec<(Box<str>, ByResource)>,
}

type ByResource = HashMap<Box<str>, Arc<dyn ResourceHandler>>;

/// What the table says to a request for a resource.
pub enum Found {
    /// This handler answers.
    Handler(Arc<dyn ResourceHandler>),
    /// The path exists, but not for this method.
    OtherMethod,
    /// The path would be here if it existed.
    Nothing,
    /// The path may exist elsewhere.
    Elsewhere,
}

impl RouteTable {
    pub(super) fn new(handlers: Vec<Arc<dyn ResourceHandler>>, open_groups: &[String]) -> Self {
        let mut groups: HashMap<Box<str>, GroupRoutes> = HashMap::new();
        for handler in handlers {
            let facts = handler.facts();
            let group = groups
                .entry(facts.group.as_ref().into())
                .or_insert_with(|| GroupRoutes {
                    open: open_groups.iter().any(|open| *open == facts.group),
                    versions: Vec::new(),
                });
            let place = group
                .versions
                .iter()
                .position(|(version, _)| **version == *facts.version);
            let place = place.unwrap_or_else(|| {
                group.versions.push((facts.version.as_ref().into(), ByResource::new()));
                group.versions.len() - 1
            });
            group.versions[place]
                .1
                .insert(facts.plural.as_ref().into(), Arc::clone(&handler));
        }
        Self { groups }
    }

    /// The handler of a resource, whatever the request does with it.
    #[must_use]
    pub fn handler(&self, group: &str, version: &str, resource: &str) -> Option<&Arc<dyn ResourceHandler>> {
        let (_, resources) = self
            .groups
            .get(group)?
            .versions
            .iter()
            .find(|(name, _)| **name == *version)?;
        resources.get(resource)
    }

    /// Every handler, in no particular order.
    pub fn handlers(&self) -> impl Iterator<Item = &Arc<dyn ResourceHandler>> {
        self.groups
            .values()
            .flat_map(|group| &group.versions)
            .flat_map(|(_, resources)| resources.values())
    }

    /// Who answers a request for a resource.
    #[must_use]
    pub fn find(&self, info: &RequestInfo) -> Found {
        let Some(group) = self.groups.get(info.group()) else {
            return Found::Elsewhere;
        };
        let nothing = || if group.open { Found::Elsewhere } else { Found::Nothing };
        let Some(handler) = self.handler(info.group(), info.version(), info.resource()) else {
            return nothing();
        };
        match admits(handler.facts(), info) {
            Admission::Yes => Found::Handler(Arc::clone(handler)),
            Admission::OtherMethod => Found::OtherMethod,
            Admission::NoSuchPath => nothing(),
        }
    }

    /// What the table says to a path below `/api` or `/apis` that is no resource.
    pub(crate) fn find_document(&self, path: &str) -> Found {
        let group = match path.trim_matches('/').split_once('/') {
            Some(("api", _)) => "",
            Some(("apis", rest)) => rest.split('/').next().unwrap_or_default(),
            _ => return Found::Elsewhere,
        };
        if self.owns_group(group) {
            Found::Nothing
        } else {
            Found::Elsewhere
        }
    }

    /// Whether the table has anything of `group`, and answers for all of it.
    #[must_use]
    pub fn owns_group(&self, group: &str) -> bool {
        self.groups.get(group).is_some_and(|group| !group.open)
    }
}

enum Admission {
    Yes,
    OtherMethod,
    NoSuchPath,
}

/// Whether a resource has the path of a request, and for its method.
fn admits(facts: &ServedResource, info: &RequestInfo) -> Admission {
    const OF_COLLECTION: [Verb; 4] = [Verb::List, Verb::Watch, Verb::Create, Verb::DeleteCollection];
    const OF_OBJECT: [Verb; 4] = [Verb::Get, Verb::Update, Verb::Patch, Verb::Delete];
    let name = info.path_name();
    let namespaced = !info.namespace().is_empty() && !info.is_namespace();
    let everywhere = facts.scope == Scope::Namespaced && !namespaced;
    if (facts.scope == Scope::Cluster && namespaced) || (everywhere && !name.is_empty()) || info.verb() == Verb::Proxy {
        return Admission::NoSuchPath;
    }
    let allowed = |verbs: &[Verb], possible: &[Verb]| match () {
        () if !possible.iter().any(|verb| verbs.contains(verb)) => Admission::NoSuchPath,
        () if *info.method() == Method::HEAD => Admission::OtherMethod,
        () if info.verb() == Verb::Watch && *info.method() != Method::GET => Admission::OtherMethod,
        () if verbs.contains(&info.verb()) && possible.contains(&info.verb()) => Admission::Yes,
        () => Admission::OtherMethod,
    };
    match (name, info.subresource()) {
        ("", _) if everywhere => allowed(&facts.verbs, &[Verb::List, Verb::Watch]),
        ("", _) => allowed(&facts.verbs, &OF_COLLECTION),
        (_, "") if info.verb() == Verb::Watch => allowed(&facts.verbs, &[Verb::Watch]),
        (_, "") => allowed(&facts.verbs, &OF_OBJECT),
        (_, wanted) => match facts.subresources.iter().find(|subresource| subresource.name == wanted) {
            Some(subresource) if info.rest().is_empty() || subresource.open_ended => {
                allowed(&subresource.verbs, &subresource.verbs)
            }
            _ => Admission::NoSuchPath,
        },
    }
}

impl std::fmt::Debug for RouteTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set()
            .entries(self.handlers().map(|handler| handler.facts()))
            .finish()
    }
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Found::Handler(handler) => f.debug_tuple("Handler").field(&handler.facts().plural).finish(),
            Found::OtherMethod => f.write_str("OtherMethod"),
            Found::Nothing => f.write_str("Nothing"),
            Found::Elsewhere => f.write_str("Elsewhere"),
        }
    }
}
