//! The kinds of other servers behind this one, by their discovery.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::sorting::sort_by;
use planesmith_server::discovery::{RemoteResource, RemoteVersion, VersionPriority};

/// A snapshot of the kinds of other servers.
#[derive(Debug, Default)]
pub(super) struct RemoteKinds {
    /// All versions, by API version and kind.
    by_name: HashMap<(String, String), Arc<RemoteKind>>,
    /// The preferred version of each kind, by the path of all its objects.
    best: BTreeMap<Arc<str>, Arc<RemoteKind>>,
}

/// A version of a kind of another server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RemoteKind {
    /// E.g. `shop.example.com/v1`.
    pub(super) api_version: String,
    /// E.g. `Order`.
    pub(super) kind: String,
    /// The path of all its objects.
    pub(super) path: Arc<str>,
    /// True if its objects live in namespaces.
    pub(super) is_namespaced: bool,
    /// True if the last probe reached the server.
    pub(super) is_current: bool,
    /// E.g. `orders`.
    pub(super) plural: String,
    verbs: Vec<String>,
}

impl RemoteKinds {
    /// The kinds of `versions`.
    pub(super) fn from_versions(versions: &[RemoteVersion]) -> Self {
        let mut versions: Vec<&RemoteVersion> = versions.iter().collect();
        sort_by(&mut versions, |left, right| {
            let (left, right) = (&left.priority, &right.priority);
            let by_place = right.version_priority.cmp(&left.version_priority);
            by_place.then_with(|| compare_versions(&left.version, &right.version))
        });
        let mut kinds = Self::default();
        let mut known = HashMap::new();
        for version in versions {
            for resource in version.resources.iter() {
                let kind = Arc::new(RemoteKind::new(version, &resource));
                let is_better = known.insert((&version.priority.group, resource.plural), ()).is_none();
                if is_better {
                    kinds.best.insert(Arc::clone(&kind.path), Arc::clone(&kind));
                }
                kinds
                    .by_name
                    .insert((kind.api_version.clone(), kind.kind.clone()), kind);
            }
        }
        kinds
    }

    /// Iterates over all kinds, each once however many versions it has.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<RemoteKind>> {
        self.best.values()
    }

    /// Iterates over the kinds whose objects clients can follow and delete, each once.
    pub(super) fn collectable(&self) -> impl Iterator<Item = &Arc<RemoteKind>> {
        self.iter().filter(|kind| kind.allows(&["delete", "list", "watch"]))
    }

    /// Returns the kind whose objects are under `path` in its preferred version.
    pub(super) fn under(&self, path: &str) -> Option<&Arc<RemoteKind>> {
        self.best.get(path)
    }

    /// Returns the kind of this name in one of its versions.
    pub(super) fn named(&self, api_version: &str, kind: &str) -> Option<&Arc<RemoteKind>> {
        self.by_name.get(&(api_version.to_owned(), kind.to_owned()))
    }
}

impl RemoteKind {
    fn new(version: &RemoteVersion, resource: &RemoteResource<'_>) -> Self {
        let VersionPriority {
            group, version: name, ..
        } = &version.priority;
        let api_version = format!("{group}/{name}");
        Self {
            path: format!("/apis/{api_version}/{}", resource.plural).into(),
            kind: resource.kind.to_owned(),
            is_namespaced: resource.is_namespaced,
            is_current: version.is_current,
            plural: resource.plural.to_owned(),
            verbs: resource.verbs.to_vec(),
            api_version,
        }
    }

    /// True if clients can use all of these verbs.
    pub(super) fn allows(&self, verbs: &[&str]) -> bool {
        verbs.iter().all(|verb| self.verbs.iter().any(|known| known == verb))
    }

    /// E.g. `shop.example.com`.
    pub(super) fn group(&self) -> &str {
        self.api_version.split('/').next().unwrap_or_default()
    }

    /// Returns the path of its objects in a namespace.
    pub(super) fn path_in(&self, namespace: &str) -> String {
        format!("/apis/{}/namespaces/{namespace}/{}", self.api_version, self.plural)
    }

    /// Returns the path of an object.
    pub(super) fn path_of(&self, namespace: &str, name: &str) -> String {
        match namespace {
            "" => format!("{}/{name}", self.path),
            namespace => format!("{}/{name}", self.path_in(namespace)),
        }
    }

    /// Returns namespace and name of the object at `path`.
    pub(super) fn names<'p>(&self, path: &'p str) -> Option<(&'p str, &'p str)> {
        let (place, name) = path.rsplit_once('/')?;
        if place == &*self.path {
            return Some(("", name));
        }
        let place = place.strip_prefix("/apis/")?.strip_prefix(&self.api_version)?;
        let (namespace, plural) = place.strip_prefix("/namespaces/")?.split_once('/')?;
        (plural == self.plural).then_some((namespace, name))
    }
}

#[cfg(test)]
mod tests {
    use planesmith_server::discovery::RemoteResources;

    use super::*;

    fn version(name: &str, version_priority: i32) -> RemoteVersion {
        let document = br#"{"kind":"APIResourceList","resources":[
            {"name":"orders","namespaced":true,"kind":"Order","verbs":["get","list","watch","delete"]},
            {"name":"rates","namespaced":false,"kind":"Rate","verbs":["get","list"]}]}"#;
        RemoteVersion {
            priority: VersionPriority {
                group: "shop.example.com".to_owned(),
                version: name.to_owned(),
                group_priority: 1000,
                version_priority,
            },
            resources: Arc::new(RemoteResources::of_version(document).unwrap()),
            is_current: true,
        }
    }

    #[test]
    fn a_kind_is_followed_in_its_best_version_and_known_in_all() {
        let kinds = RemoteKinds::from_versions(&[version("v1alpha1", 10), version("v1", 10), version("v2", 5)]);
        let followed: Vec<&str> = kinds.collectable().map(|kind| &*kind.path).collect();
        assert_eq!(followed, ["/apis/shop.example.com/v1/orders"]);
        assert!(kinds.named("shop.example.com/v2", "Order").is_some());
        assert!(kinds.named("shop.example.com/v3", "Order").is_none());
        assert!(kinds.under("/apis/shop.example.com/v2/orders").is_none());
    }

    #[test]
    fn paths_lead_to_names_and_back() {
        let kinds = RemoteKinds::from_versions(&[version("v1", 10)]);
        let orders = kinds.named("shop.example.com/v1", "Order").unwrap();
        let path = orders.path_of("default", "a");
        assert_eq!(path, "/apis/shop.example.com/v1/namespaces/default/orders/a");
        assert_eq!(orders.names(&path), Some(("default", "a")));
        let rates = kinds.named("shop.example.com/v1", "Rate").unwrap();
        assert_eq!(rates.names(&rates.path_of("", "eur")), Some(("", "eur")));
        assert_eq!(rates.names(&path), None);
    }
}
