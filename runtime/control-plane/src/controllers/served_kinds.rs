//! The kinds that are served and stored, built-in and custom, as they come and go.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use futures_util::future::select_all;
use planesmith_machinery::resource::Scope;
use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::request::Verb;
use planesmith_server::routes::ServedResource;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{At, Entry, ListQuery};
use tokio::sync::watch;

/// Follows which kinds the servers of a chain serve.
pub(super) struct ServedKinds {
    tables: Vec<SharedTable>,
    changes: Vec<watch::Receiver<()>>,
}

/// The kinds that are served at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    /// By what the keys of their objects start with.
    by_prefix: BTreeMap<Arc<str>, Arc<ServedKind>>,
    /// API version and kind of each version that is served.
    by_name: HashMap<(String, String), Arc<str>>,
}

/// A stored kind and one version to reach it by.
#[derive(Clone, Debug)]
pub(super) struct ServedKind {
    /// Its objects.
    pub(super) store: Arc<ResourceStore>,
    /// The version to send requests to: that of the store where it is served.
    pub(super) resource: ServedResource,
}

impl ServedKinds {
    /// Follows the kinds of `server` and of those that it delegates to.
    pub(super) fn of(server: &ApiServer) -> Self {
        let tables = server.tables();
        let changes = tables.iter().map(SharedTable::changes).collect();
        Self { tables, changes }
    }

    /// The kinds of this moment that are stored.
    pub(super) fn now(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for table in &self.tables {
            for handler in table.load().handlers() {
                if let Some(store) = handler.objects() {
                    kinds.add(store, handler.facts());
                }
            }
        }
        kinds
    }

    /// Waits until kinds came or went. May be dropped and called again.
    pub(super) async fn changed(&mut self) {
        let changes = self.changes.iter_mut().map(|table| Box::pin(table.changed()));
        // The tables live as long as their receivers here.
        let _ = select_all(changes).await;
    }
}

impl Kinds {
    fn add(&mut self, store: &Arc<ResourceStore>, resource: &ServedResource) {
        let prefix: Arc<str> = store.collection().prefix().into();
        let name = (api_version(resource), resource.kind.to_string());
        self.by_name.insert(name, Arc::clone(&prefix));
        let hub = store.facts();
        let is_hub = resource.group == hub.group && resource.version == hub.version;
        let rank = |resource: &ServedResource| (resource.group.to_string(), resource.version.to_string());
        let known = self.by_prefix.get(&prefix);
        if is_hub || known.is_none_or(|known| !known.is_hub() && rank(resource) < rank(&known.resource)) {
            let kind = ServedKind {
                store: Arc::clone(store),
                resource: resource.clone(),
            };
            self.by_prefix.insert(prefix, Arc::new(kind));
        }
    }

    /// Takes in newer kinds; those that are gone stay known.
    pub(super) fn learn(&mut self, newer: Kinds) {
        self.by_prefix.extend(newer.by_prefix);
        self.by_name.extend(newer.by_name);
    }

    /// Every kind once, however many versions it has.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<ServedKind>> {
        self.by_prefix.values()
    }

    /// The kind whose keys start with `prefix`.
    pub(super) fn under(&self, prefix: &str) -> Option<&Arc<ServedKind>> {
        self.by_prefix.get(prefix)
    }

    /// The kind that is called so in one of its versions.
    pub(super) fn named(&self, api_version: &str, kind: &str) -> Option<&Arc<ServedKind>> {
        let name = (api_version.to_owned(), kind.to_owned());
        self.under(self.by_name.get(&name)?)
    }
}

impl ServedKind {
    /// E.g. `apps/v1`.
    pub(super) fn api_version(&self) -> String {
        api_version(&self.resource)
    }

    /// What the keys of its objects start with.
    pub(super) fn prefix(&self) -> &str {
        self.store.collection().prefix()
    }

    /// Whether its objects live in namespaces.
    pub(super) fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    /// Whether clients can do all of these.
    pub(super) fn allows(&self, verbs: &[Verb]) -> bool {
        verbs.iter().all(|verb| self.resource.verbs.contains(verb))
    }

    /// The path of its objects in a namespace; of all objects when it is empty.
    pub(super) fn path(&self, namespace: &str) -> String {
        let root = if self.resource.group.is_empty() {
            "/api"
        } else {
            "/apis"
        };
        let (version, plural) = (self.api_version(), &self.resource.plural);
        match namespace {
            "" => format!("{root}/{version}/{plural}"),
            namespace => format!("{root}/{version}/namespaces/{namespace}/{plural}"),
        }
    }

    /// The object in a namespace, or of a kind that lives in none.
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Entry>> {
        let key = self.store.key(namespace, name).ok()?;
        self.store.collection().get(&key)
    }

    /// The names of all objects of a kind that lives in no namespace.
    pub(super) fn names(&self) -> Vec<String> {
        let entries = self.entries(self.prefix(), None);
        let names = entries.iter().map(|entry| self.store.names(entry.key()).1.to_owned());
        names.collect()
    }

    /// The objects in a namespace.
    pub(super) fn entries_in(&self, namespace: &str) -> Vec<Arc<Entry>> {
        self.entries(&self.store.prefix(namespace), None)
    }

    /// Whether nothing is in a namespace.
    pub(super) fn is_empty_in(&self, namespace: &str) -> bool {
        self.entries(&self.store.prefix(namespace), Some(1)).is_empty()
    }

    fn entries(&self, prefix: &str, limit: Option<usize>) -> Vec<Arc<Entry>> {
        let query = ListQuery {
            prefix,
            after: None,
            limit,
            at: At::Latest,
            filter: None,
        };
        // The newest state is never compacted.
        let page = self.store.collection().list(&query);
        page.map_or_else(|_| Vec::new(), |page| page.entries)
    }

    fn is_hub(&self) -> bool {
        let hub = self.store.facts();
        self.resource.group == hub.group && self.resource.version == hub.version
    }
}

fn api_version(resource: &ServedResource) -> String {
    match &*resource.group {
        "" => resource.version.to_string(),
        group => format!("{group}/{}", resource.version),
    }
}

impl fmt::Debug for ServedKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedKinds").finish_non_exhaustive()
    }
}
