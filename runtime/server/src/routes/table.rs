//! The compiled table.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use http::Method;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::sorting::sort_by;
use planesmith_machinery::status::ApiError;

use super::group_answers::{ExclusiveGroup, GroupAnswers, OpenGroup};
use super::{ResourceHandler, VersionHandler};
use crate::discovery::{Document, ServedResource, resource_list};
use crate::request::{RequestInfo, Verb};

/// Handlers by group, version and resource; never changes.
#[derive(Clone, Default)]
pub struct RouteTable {
    /// Shared by successive tables.
    groups: HashMap<Arc<str>, Arc<GroupRoutes>>,
}

struct GroupRoutes {
    answers: &'static dyn GroupAnswers,
    versions: Vec<VersionRoutes>,
}

struct VersionRoutes {
    name: Box<str>,
    resources: ByResource,
    /// Created on first use: tables of custom resources are swapped more often than the document is requested.
    document: OnceLock<Arc<Document>>,
    /// Answers instead of the resources and the document.
    claim: Option<Arc<dyn VersionHandler>>,
}

/// Group, version and their handler.
pub(super) type Claim = (String, String, Arc<dyn VersionHandler>);

/// Names of a group and a version.
type GroupVersion = (Box<str>, Box<str>);

type ByResource = HashMap<Box<str>, Arc<dyn ResourceHandler>>;

/// The result of a lookup in the table.
pub(crate) enum Found {
    /// This handler answers.
    Handler(Arc<dyn ResourceHandler>),
    /// This handler answers for the whole version.
    Version(Arc<dyn VersionHandler>),
    /// The path is that of a version's discovery document.
    Document(Arc<Document>),
    /// The same, negotiated like the documents above the APIs.
    DocumentAbove(Arc<Document>),
    /// The request is refused with this error.
    Refused(ApiError),
    /// The path exists, but not for this method.
    OtherMethod,
    /// The path belongs to this table, but does not exist.
    Nothing,
    /// The path may exist in another table.
    Elsewhere,
}

impl RouteTable {
    pub(super) fn new(handlers: Vec<Arc<dyn ResourceHandler>>, claims: Vec<Claim>, open_groups: &[String]) -> Self {
        let mut by_version: BTreeMap<GroupVersion, (ByResource, Option<Arc<dyn VersionHandler>>)> = BTreeMap::new();
        for handler in handlers {
            let facts = handler.facts();
            let (group, version) = (facts.group.as_ref().into(), facts.version.as_ref().into());
            let resource = facts.plural.as_ref().into();
            let (resources, _) = by_version.entry((group, version)).or_default();
            resources.insert(resource, handler);
        }
        for (group, version, handler) in claims {
            by_version.entry((group.into(), version.into())).or_default().1 = Some(handler);
        }
        let mut groups: HashMap<Box<str>, GroupRoutes> = HashMap::new();
        for ((group, name), (resources, claim)) in by_version {
            let answers: &dyn GroupAnswers = match open_groups.iter().any(|open| **open == *group) {
                true => &OpenGroup,
                false => &ExclusiveGroup,
            };
            let group = groups.entry(group).or_insert_with(|| GroupRoutes {
                answers,
                versions: Vec::new(),
            });
            group.versions.push(VersionRoutes {
                name,
                resources,
                document: OnceLock::new(),
                claim,
            });
        }
        let groups = groups.into_iter().map(|(name, group)| (name.into(), Arc::new(group)));
        Self {
            groups: groups.collect(),
        }
    }

    /// The same table with the routes of `group` from `other`, or without that group if `other` does not have it.
    /// Routes of other groups are shared, so that a change costs no more than its group.
    #[must_use]
    pub fn with_group(&self, group: &str, other: &RouteTable) -> Self {
        let mut table = self.clone();
        match other.groups.get_key_value(group) {
            Some((name, routes)) => drop(table.groups.insert(Arc::clone(name), Arc::clone(routes))),
            None => drop(table.groups.remove(group)),
        }
        table
    }

    /// The handler of a resource, for any verb.
    #[must_use]
    pub fn handler(&self, group: &str, version: &str, resource: &str) -> Option<&Arc<dyn ResourceHandler>> {
        self.groups.get(group)?.version(version)?.resources.get(resource)
    }

    /// Every listed version with its group and its resources by name, in no particular order.
    pub(crate) fn versions(&self) -> impl Iterator<Item = (&str, &str, Vec<&ServedResource>)> {
        self.groups.iter().flat_map(|(group, routes)| {
            let versions = routes.versions.iter().filter(|version| version.is_listed());
            versions.map(move |version| (&**group, &*version.name, by_name(&version.resources)))
        })
    }

    /// Every handler of a listed resource, in no particular order.
    pub fn handlers(&self) -> impl Iterator<Item = &Arc<dyn ResourceHandler>> {
        let versions = self.groups.values().flat_map(|group| &group.versions);
        let handlers = versions.flat_map(|version| version.resources.values());
        handlers.filter(|handler| handler.is_listed())
    }

    /// Returns the handlers that `other` does not have, in no particular order.
    ///
    /// Routes that both tables share are skipped by comparing references: this costs a lookup for each group, and for
    /// each resource of the groups that differ.
    pub fn handlers_missing_in<'t>(
        &'t self,
        other: &'t RouteTable,
    ) -> impl Iterator<Item = &'t Arc<dyn ResourceHandler>> {
        let groups = self.groups.iter().map(|(name, group)| (group, other.groups.get(name)));
        let differing = groups.filter(|(group, others)| !others.is_some_and(|others| Arc::ptr_eq(group, others)));
        differing.flat_map(|(group, others)| {
            group.versions.iter().flat_map(move |version| {
                let others = others.and_then(|others| others.version(&version.name));
                let handlers = version.resources.iter();
                let missing = handlers.filter(move |(plural, handler)| {
                    let others = others.and_then(|others| others.resources.get(*plural));
                    !others.is_some_and(|others| Arc::ptr_eq(handler, others))
                });
                missing.map(|(_, handler)| handler)
            })
        })
    }

    /// The handler of a request for a resource.
    #[must_use]
    pub(crate) fn find(&self, info: &RequestInfo) -> Found {
        let group = match (info.prefix(), info.group()) {
            // The group without a name has a path of its own.
            ("apis", "") => None,
            (_, group) => self.groups.get(group),
        };
        let Some(group) = group else {
            return Found::Elsewhere;
        };
        let Some(version) = group.version(info.version()) else {
            return group.answers.unknown();
        };
        if let Some(claim) = &version.claim {
            return Found::Version(Arc::clone(claim));
        }
        let Some(handler) = version.resources.get(info.resource()) else {
            return group.answers.unknown();
        };
        match admits(handler.facts(), info, group.answers) {
            Ok(()) => Found::Handler(Arc::clone(handler)),
            Err(refusal) => group.answers.refused(handler, info, refusal),
        }
    }

    /// The result for a path below `/api` or `/apis` that is not a resource.
    pub(crate) fn find_document(&self, info: &RequestInfo) -> Found {
        let mut parts = info.path().trim_matches('/').split('/');
        let group = match parts.next() {
            Some("api") => Some(""),
            Some("apis") => parts.next().filter(|group| !group.is_empty()),
            _ => None,
        };
        let version = parts.next().unwrap_or_default();
        let Some((group_name, group)) = group.and_then(|group| self.groups.get_key_value(group)) else {
            return Found::Elsewhere;
        };
        match group.version(version) {
            Some(VersionRoutes { claim: Some(claim), .. }) => Found::Version(Arc::clone(claim)),
            Some(version) if version.is_listed() => group.answers.document(info, version.document(group_name)),
            _ => group.answers.unknown(),
        }
    }

    /// True if the table has the resource of a request, for any method.
    pub(crate) fn serves(&self, info: &RequestInfo) -> bool {
        let handler = self.handler(info.group(), info.version(), info.resource());
        handler.is_some_and(|handler| {
            let subresources = &handler.facts().subresources;
            info.subresource().is_empty() || subresources.iter().any(|known| known.name == info.subresource())
        })
    }

    /// True if the table has routes of `group`, and no other server serves that group.
    #[must_use]
    pub fn owns_group(&self, group: &str) -> bool {
        self.groups
            .get(group)
            .is_some_and(|group| matches!(group.answers.unknown(), Found::Nothing))
    }
}

impl GroupRoutes {
    fn version(&self, name: &str) -> Option<&VersionRoutes> {
        self.versions.iter().find(|version| *version.name == *name)
    }
}

impl VersionRoutes {
    /// True if documents name the version: there is more in it than unlisted resources.
    fn is_listed(&self) -> bool {
        let mut resources = self.resources.values();
        self.resources.is_empty() || resources.any(|handler| handler.is_listed())
    }

    fn document(&self, group: &str) -> Arc<Document> {
        let make = || Arc::new(resource_list(group, &self.name, &by_name(&self.resources)));
        Arc::clone(self.document.get_or_init(make))
    }
}

fn by_name(resources: &ByResource) -> Vec<&ServedResource> {
    let listed = resources.values().filter(|handler| handler.is_listed());
    let mut served: Vec<_> = listed.map(|handler| handler.facts()).collect();
    sort_by(&mut served, |left, right| left.plural.cmp(&right.plural));
    served
}

/// The reason for which a resource does not answer a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// It does not support the method.
    OtherMethod,
    /// It does not have the path.
    NoSuchPath,
}

/// Checks that a resource of a group with `answers` has the path of a request, and supports its method.
fn admits(facts: &ServedResource, info: &RequestInfo, answers: &dyn GroupAnswers) -> Result<(), Refusal> {
    const OF_COLLECTION: [Verb; 4] = [Verb::List, Verb::Watch, Verb::Create, Verb::DeleteCollection];
    const OF_OBJECT: [Verb; 4] = [Verb::Get, Verb::Update, Verb::Patch, Verb::Delete];
    let name = info.path_name();
    let everywhere = is_everywhere(facts, info);
    let is_misplaced = facts.scope == Scope::Cluster && (is_namespaced(info) || info.is_below_namespace());
    if is_misplaced || !answers.has_path(facts, info) {
        return Err(Refusal::NoSuchPath);
    }
    let allowed = |verbs: &[Verb], possible: &[Verb]| match () {
        () if !possible.iter().any(|verb| verbs.contains(verb)) => Err(Refusal::NoSuchPath),
        () if !answers.has_method(info) => Err(Refusal::OtherMethod),
        () if verbs.contains(&info.verb()) && possible.contains(&info.verb()) => Ok(()),
        () if facts.hidden_verbs.contains(&info.verb()) && possible.contains(&info.verb()) => Ok(()),
        // Lists that cannot be watched report that themselves.
        () if info.verb() == Verb::Watch && verbs.contains(&Verb::List) => Ok(()),
        () => Err(Refusal::OtherMethod),
    };
    match (name, info.subresource()) {
        ("", _) if everywhere => allowed(&facts.verbs, &[Verb::List, Verb::Watch]),
        ("", _) => allowed(&facts.verbs, &OF_COLLECTION),
        (_, "") if info.verb() == Verb::Watch => allowed(&facts.verbs, &[Verb::Watch]),
        (_, "") => allowed(&facts.verbs, &OF_OBJECT),
        (_, wanted) => match facts.subresources.iter().find(|subresource| subresource.name == wanted) {
            Some(subresource) if subresource.open_ended => match info.verb() {
                Verb::Unknown if *info.method() != Method::OPTIONS => Err(Refusal::OtherMethod),
                _ => Ok(()),
            },
            Some(subresource) => allowed(&subresource.verbs, &subresource.verbs),
            None => Err(Refusal::NoSuchPath),
        },
    }
}

fn is_namespaced(info: &RequestInfo) -> bool {
    !info.namespace().is_empty() && !info.is_namespace()
}

/// True for a request about a namespaced resource that names no namespace.
pub(super) fn is_everywhere(facts: &ServedResource, info: &RequestInfo) -> bool {
    facts.scope == Scope::Namespaced && !is_namespaced(info)
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
            Found::Version(_) => f.write_str("Version"),
            Found::Document(document) | Found::DocumentAbove(document) => document.fmt(f),
            Found::Refused(error) => f.debug_tuple("Refused").field(error).finish(),
            Found::OtherMethod => f.write_str("OtherMethod"),
            Found::Nothing => f.write_str("Nothing"),
            Found::Elsewhere => f.write_str("Elsewhere"),
        }
    }
}
