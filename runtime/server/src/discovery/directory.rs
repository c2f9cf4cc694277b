//! Registrations beside the route tables: the order of groups, and versions that other servers serve.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::meta::ApiResourceList;
use tokio::sync::watch;

use super::aggregated::{self, GroupList};

/// The registered groups; can be replaced while serving. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct GroupDirectory {
    current: Arc<ArcSwap<Groups>>,
    changes: watch::Sender<()>,
}

/// A snapshot of the registrations.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// The plain list of groups; `None` derives it from the served tables.
    pub listed: Option<ListedGroups>,
    /// Versions that other servers serve. Snapshots share them until they change.
    pub remote: Arc<[RemoteVersion]>,
}

/// The source of the plain list of groups.
pub trait GroupRegistry: Send + Sync {
    /// Returns the registered groups, in order.
    fn groups(&self) -> Vec<ListedGroup>;

    /// True if a version is registered.
    fn lists(&self, group: &str, version: &str) -> bool;
}

/// The plain list of groups, computed when it is read for the first time: registrations change more often than clients
/// request the list.
#[derive(Clone)]
pub struct ListedGroups {
    registry: Arc<dyn GroupRegistry>,
    groups: Arc<OnceLock<Vec<ListedGroup>>>,
}

/// A group of the plain list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedGroup {
    /// Name of the group.
    pub name: String,
    /// Its versions, best first.
    pub versions: Vec<String>,
}

/// A version that another server serves.
#[derive(Clone, Debug)]
pub struct RemoteVersion {
    /// Its priority in lists.
    pub priority: VersionPriority,
    /// The resources that the server reports.
    pub resources: Arc<RemoteResources>,
    /// True if the server's report is current.
    pub is_current: bool,
}

/// The priority of a version in lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionPriority {
    /// API group.
    pub group: String,
    /// Version in the group.
    pub version: String,
    /// Priority of the group: larger numbers come first.
    pub group_priority: i32,
    /// Priority of the version in its group: larger numbers come first.
    pub version_priority: i32,
}

/// The resources of a version of another server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemoteResources(pub(super) Vec<aggregated::Resource>);

/// A resource of another server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteResource<'r> {
    /// Plural name, as in paths.
    pub plural: &'r str,
    /// The kind of its objects; empty when the server does not report it.
    pub kind: &'r str,
    /// True if its objects are namespaced.
    pub is_namespaced: bool,
    /// Verbs that the resource supports.
    pub verbs: &'r [String],
}

impl GroupDirectory {
    /// Replaces the registrations.
    pub fn store(&self, groups: Groups) {
        self.current.store(Arc::new(groups));
        self.changes.send_replace(());
    }

    /// Subscribes to all later changes.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// The current registrations.
    #[must_use]
    pub fn load(&self) -> Arc<Groups> {
        self.current.load_full()
    }
}

impl Groups {
    /// True if a version is in the plain list of groups, or will be as soon as it is served.
    #[must_use]
    pub fn lists(&self, group: &str, version: &str) -> bool {
        let listed = self.listed.as_ref();
        listed.is_none_or(|listed| listed.registry.lists(group, version))
    }
}

impl ListedGroups {
    /// Returns the list of `registry`, which is read with the first use of the list.
    #[must_use]
    pub fn new(registry: Arc<dyn GroupRegistry>) -> Self {
        Self {
            registry,
            groups: Arc::default(),
        }
    }

    /// Returns the groups, in order.
    #[must_use]
    pub fn groups(&self) -> &[ListedGroup] {
        self.groups.get_or_init(|| self.registry.groups())
    }
}

impl fmt::Debug for ListedGroups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListedGroups").field(&self.groups).finish()
    }
}

impl RemoteResources {
    /// Reads a document with all groups, by group and version; `None` if it is not such a document.
    #[must_use]
    pub fn of_all(document: &[u8]) -> Option<BTreeMap<(String, String), Self>> {
        let mut all = GroupList::default();
        json::decode(document, &mut all, Strictness::Lenient).ok()?;
        let versions = all.items.into_iter().flat_map(|group| {
            let name = group.metadata.name;
            let versions = group.versions.into_iter();
            versions.map(move |version| ((name.clone(), version.version), Self(version.resources)))
        });
        Some(versions.collect())
    }

    /// Reads the plain document of one version; `None` if it is not such a document.
    #[must_use]
    pub fn of_version(document: &[u8]) -> Option<Self> {
        let mut list = ApiResourceList::default();
        json::decode(document, &mut list, Strictness::Lenient).ok()?;
        Some(Self(aggregated::Resource::of_plain(list.resources)))
    }

    /// All resources, without subresources.
    pub fn iter(&self) -> impl Iterator<Item = RemoteResource<'_>> {
        self.0.iter().map(|resource| RemoteResource {
            plural: &resource.resource,
            kind: resource.kind(),
            is_namespaced: resource.is_namespaced(),
            verbs: resource.verbs.as_deref().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Counts how often its groups are read.
    #[derive(Default)]
    struct CountedReads(AtomicUsize);

    impl GroupRegistry for CountedReads {
        fn groups(&self) -> Vec<ListedGroup> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Vec::new()
        }

        fn lists(&self, _group: &str, _version: &str) -> bool {
            true
        }
    }

    #[test]
    fn a_burst_of_changes_lists_the_groups_once_when_they_are_read() {
        let (directory, registry) = (GroupDirectory::default(), Arc::new(CountedReads::default()));
        for _ in 0..1000 {
            directory.store(Groups {
                listed: Some(ListedGroups::new(Arc::clone(&registry) as _)),
                ..Groups::default()
            });
            assert!(directory.load().lists("a.example", "v1"));
        }
        assert_eq!(registry.0.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert!(
                directory
                    .load()
                    .listed
                    .as_ref()
                    .is_some_and(|listed| listed.groups().is_empty())
            );
        }
        assert_eq!(registry.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn both_kinds_of_documents_say_the_same() {
        let plain = br#"{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.example/v1","resources":[
            {"name":"carts","singularName":"cart","namespaced":true,"kind":"Cart","verbs":["get","list"],"shortNames":["ca"]},
            {"name":"carts/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]}]}"#;
        let all = br#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
            {"metadata":{"name":"a.example"},"versions":[{"version":"v1","freshness":"Current","resources":[
            {"resource":"carts","responseKind":{"group":"","version":"","kind":"Cart"},"scope":"Namespaced","singularResource":"cart",
            "verbs":["get","list"],"shortNames":["ca"],"subresources":[{"subresource":"scale",
            "responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}]}]}]}"#;
        let plain = RemoteResources::of_version(plain).expect("the list is one");
        let all = RemoteResources::of_all(all).expect("the document is one");
        assert_eq!(all[&("a.example".to_owned(), "v1".to_owned())], plain);
        let carts: Vec<_> = plain.iter().collect();
        assert_eq!(carts.len(), 1);
        assert_eq!(
            (carts[0].plural, carts[0].kind, carts[0].is_namespaced),
            ("carts", "Cart", true)
        );
        assert_eq!(carts[0].verbs, ["get", "list"]);
        assert!(RemoteResources::of_version(b"404 page not found\n").is_none());
    }
}
