//! All groups, versions and resources in one document (`apidiscovery.k8s.io/v2`).

use planesmith_machinery::Struct;
use planesmith_machinery::meta::{ApiResource, ListMeta, ObjectMeta};
use planesmith_machinery::resource::Scope;

use super::RemoteVersion;
use super::resource_list::names;
use super::served::{ServedKind, ServedResource};

/// Groups, best first.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(
    name = "APIGroupDiscoveryList",
    type_meta("apidiscovery.k8s.io/v2", "APIGroupDiscoveryList")
)]
pub(crate) struct GroupList {
    /// Metadata of a list; empty.
    #[field(keep, proto = 1)]
    pub(crate) metadata: ListMeta,
    /// The groups.
    #[field(keep, proto = 2)]
    pub(crate) items: Vec<Group>,
}

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIGroupDiscovery")]
pub(crate) struct Group {
    /// Holds the name of the group.
    #[field(keep, proto = 1)]
    pub(crate) metadata: ObjectMeta,
    /// Versions, best first.
    #[field(proto = 2)]
    pub(super) versions: Vec<Version>,
}

/// A version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIVersionDiscovery")]
pub(crate) struct Version {
    /// E.g. `v1`.
    #[field(keep, proto = 1)]
    pub(super) version: String,
    /// Resources by name.
    #[field(proto = 2)]
    pub(super) resources: Vec<Resource>,
    /// `Current`, or `Stale` when another server answers for the version and cannot be reached.
    #[field(proto = 3)]
    freshness: String,
}

/// A resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APIResourceDiscovery")]
pub(crate) struct Resource {
    /// Plural name, as in paths.
    #[field(keep, proto = 1)]
    pub(super) resource: String,
    /// The kind of the objects.
    #[field(proto = 2)]
    response_kind: Option<Kind>,
    /// `Namespaced` or `Cluster`.
    #[field(keep, proto = 3)]
    scope: String,
    /// Singular name.
    #[field(keep, proto = 4)]
    singular_resource: String,
    /// Verbs that the resource supports.
    #[field(keep, proto = 5)]
    pub(super) verbs: Option<Vec<String>>,
    /// Abbreviations.
    #[field(proto = 6)]
    short_names: Vec<String>,
    /// Groups of resources that it belongs to.
    #[field(proto = 7)]
    categories: Vec<String>,
    /// Paths below an object.
    #[field(proto = 8)]
    subresources: Vec<Subresource>,
}

/// A path below an object.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "APISubresourceDiscovery")]
pub(crate) struct Subresource {
    /// Last part of the path.
    #[field(keep, proto = 1)]
    subresource: String,
    /// The kind of the answer.
    #[field(proto = 2)]
    response_kind: Option<Kind>,
    /// Kinds that clients may send; empty when only that of the answer is accepted.
    #[field(proto = 3)]
    accepted_types: Vec<Kind>,
    /// Verbs that the subresource supports.
    #[field(keep, proto = 4)]
    verbs: Option<Vec<String>>,
}

/// A fully qualified kind; group and version are empty when they are those of the resource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(name = "GroupVersionKind")]
pub(crate) struct Kind {
    /// API group.
    #[field(keep, proto = 1)]
    group: String,
    /// API version.
    #[field(keep, proto = 2)]
    version: String,
    /// E.g. `ConfigMap`.
    #[field(keep, proto = 3)]
    kind: String,
}

impl Group {
    /// A group with its versions, best first.
    pub(crate) fn new(name: &str, versions: Vec<Version>) -> Self {
        Self {
            metadata: ObjectMeta {
                name: name.to_owned(),
                ..ObjectMeta::default()
            },
            versions,
        }
    }
}

impl Version {
    /// A version with its resources by name.
    pub(crate) fn local(version: &str, resources: &[&ServedResource]) -> Self {
        Self {
            version: version.to_owned(),
            resources: resources.iter().map(|resource| Resource::new(resource)).collect(),
            freshness: "Current".to_owned(),
        }
    }

    /// A version that another server serves.
    pub(crate) fn remote(remote: &RemoteVersion) -> Self {
        Self {
            version: remote.priority.version.clone(),
            resources: remote.resources.0.clone(),
            freshness: if remote.is_current { "Current" } else { "Stale" }.to_owned(),
        }
    }
}

impl Resource {
    fn new(served: &ServedResource) -> Self {
        let named = |name: &str| {
            if served.is_custom {
                name.to_owned()
            } else {
                String::new()
            }
        };
        let own = || Kind {
            group: named(&served.group),
            version: named(&served.version),
            kind: served.kind.to_string(),
        };
        let subresources = served.subresources.iter().map(|subresource| Subresource {
            subresource: subresource.name.to_string(),
            response_kind: Some(subresource.kind.as_ref().map_or_else(own, Kind::from)),
            accepted_types: Vec::new(),
            verbs: Some(names(&subresource.verbs)),
        });
        Self {
            resource: served.plural.to_string(),
            response_kind: Some(own()),
            scope: scope(served.scope == Scope::Namespaced),
            singular_resource: served.singular.to_string(),
            verbs: Some(names(&served.verbs)),
            short_names: served.short_names.iter().map(ToString::to_string).collect(),
            categories: served.categories.iter().map(ToString::to_string).collect(),
            subresources: subresources.collect(),
        }
    }

    /// The resources of a plain list, which lists subresources beside them.
    pub(crate) fn of_plain(list: Vec<ApiResource>) -> Vec<Self> {
        let mut resources: Vec<Self> = Vec::new();
        for listed in list {
            let kind = Kind {
                group: listed.group,
                version: listed.version,
                kind: listed.kind,
            };
            let (name, subresource) = match listed.name.split_once('/') {
                Some((name, subresource)) => (name, Some(subresource)),
                None => (listed.name.as_str(), None),
            };
            let at = resources.iter().position(|known| known.resource == name);
            let at = at.unwrap_or_else(|| {
                resources.push(Self {
                    resource: name.to_owned(),
                    scope: scope(listed.namespaced),
                    ..Self::default()
                });
                resources.len() - 1
            });
            let resource = &mut resources[at];
            if let Some(subresource) = subresource {
                resource.subresources.push(Subresource {
                    subresource: subresource.to_owned(),
                    response_kind: Some(kind),
                    accepted_types: Vec::new(),
                    verbs: listed.verbs,
                });
                continue;
            }
            resource.response_kind = Some(kind);
            resource.singular_resource = listed.singular_name;
            resource.verbs = listed.verbs;
            resource.short_names = listed.short_names;
            resource.categories = listed.categories;
        }
        resources
    }

    /// The kind of the objects; empty when the server does not report it.
    pub(crate) fn kind(&self) -> &str {
        self.response_kind.as_ref().map_or("", |kind| &kind.kind)
    }

    /// True if objects are namespaced.
    pub(crate) fn is_namespaced(&self) -> bool {
        self.scope == scope(true)
    }
}

fn scope(namespaced: bool) -> String {
    if namespaced { "Namespaced" } else { "Cluster" }.to_owned()
}

impl From<&ServedKind> for Kind {
    fn from(served: &ServedKind) -> Self {
        Self {
            group: served.group.to_string(),
            version: served.version.to_string(),
            kind: served.kind.to_string(),
        }
    }
}
