//! The kinds that are served and stored, built-in and custom, as they change.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use futures_util::future::select_all;
use planesmith_machinery::resource::Scope;
use planesmith_server::chain::SharedTable;
use planesmith_server::discovery::ServedResource;
use planesmith_server::request::Verb;
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Entry, ListQuery};
use tokio::sync::watch;

/// Follows the kinds that the servers of a chain serve.
pub struct ServedKinds {
    tables: Vec<SharedTable>,
    changes: Vec<watch::Receiver<()>>,
}

/// A snapshot of the served kinds.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// The kinds, by the prefix of their objects' keys.
    by_prefix: BTreeMap<Arc<str>, Arc<ServedKind>>,
    /// The prefixes, by API version and kind of each served version.
    by_name: HashMap<(String, String), Arc<str>>,
    /// Kinds that are no longer served and have no objects, the oldest first.
    gone: VecDeque<Arc<str>>,
}

/// The number of deleted kinds that are remembered: dependents of their objects may still have to be processed.
const GONE: usize = 64;

/// A stored kind, and one version in which it is served.
#[derive(Clone, Debug)]
pub struct ServedKind {
    /// The store of its objects.
    pub store: Arc<ResourceStore>,
    /// The version for requests: the storage version if that is served.
    pub resource: ServedResource,
}

impl ServedKinds {
    /// Follows the kinds in `tables`, those of a chain.
    pub fn of(tables: &[SharedTable]) -> Self {
        let tables = tables.to_vec();
        let changes = tables.iter().map(SharedTable::changes).collect();
        Self { tables, changes }
    }

    /// Returns the stored kinds that are served now.
    pub fn now(&self) -> Kinds {
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

    /// Waits until the served kinds change. May be dropped and called again.
    pub async fn changed(&mut self) {
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

    /// Updates the kinds; removed ones are remembered for a while. Returns the prefixes of those that are not.
    pub fn learn(&mut self, newer: Kinds) -> Vec<Arc<str>> {
        let is_over = |(prefix, kind): &(&Arc<str>, &Arc<ServedKind>)| {
            !newer.by_prefix.contains_key(*prefix) && kind.store.collection().is_empty(prefix)
        };
        let over: Vec<Arc<str>> = self
            .by_prefix
            .iter()
            .filter(is_over)
            .map(|(prefix, _)| Arc::clone(prefix))
            .collect();
        self.gone.retain(|prefix| over.contains(prefix));
        let since_now = over.into_iter().filter(|prefix| !self.gone.contains(prefix));
        let since_now: Vec<Arc<str>> = since_now.collect();
        for prefix in &since_now {
            if let Some(kind) = self.by_prefix.get_mut(prefix) {
                *kind = Arc::new(kind.without_definition());
            }
        }
        self.gone.extend(since_now);
        let forgotten: Vec<Arc<str>> = self.gone.drain(..self.gone.len().saturating_sub(GONE)).collect();
        for prefix in &forgotten {
            self.by_prefix.remove(prefix);
        }
        self.by_name.retain(|_, prefix| !forgotten.contains(prefix));
        self.by_prefix.extend(newer.by_prefix);
        self.by_name.extend(newer.by_name);
        forgotten
    }

    /// Iterates over all kinds, each once however many versions it has.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ServedKind>> {
        self.by_prefix.values()
    }

    /// Returns the kind whose keys start with `prefix`.
    pub fn under(&self, prefix: &str) -> Option<&Arc<ServedKind>> {
        self.by_prefix.get(prefix)
    }

    /// Returns the kind of this name in one of its versions.
    pub fn named(&self, api_version: &str, kind: &str) -> Option<&Arc<ServedKind>> {
        let name = (api_version.to_owned(), kind.to_owned());
        self.under(self.by_name.get(&name)?)
    }
}

impl ServedKind {
    /// E.g. `apps/v1`.
    pub fn api_version(&self) -> String {
        api_version(&self.resource)
    }

    /// Returns the prefix of its objects' keys.
    pub fn prefix(&self) -> &str {
        self.store.collection().prefix()
    }

    /// True if its objects live in namespaces.
    pub fn is_namespaced(&self) -> bool {
        self.resource.scope == Scope::Namespaced
    }

    /// True if clients can use all of these verbs.
    pub fn allows(&self, verbs: &[Verb]) -> bool {
        verbs.iter().all(|verb| self.resource.verbs.contains(verb))
    }

    /// Returns the path of its objects in a namespace; of all objects if it is empty.
    pub fn path(&self, namespace: &str) -> String {
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

    /// Returns the object in a namespace, or of a kind without namespaces.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<Entry>> {
        let key = self.store.key(namespace, name).ok()?;
        self.store.collection().get(&key)
    }

    /// Returns the names of all objects of a kind without namespaces.
    pub fn names(&self) -> Vec<String> {
        let entries = self.entries(self.prefix());
        let names = entries.iter().map(|entry| self.store.names(entry.key()).1.to_owned());
        names.collect()
    }

    /// Returns the objects in a namespace.
    pub fn entries_in(&self, namespace: &str) -> Vec<Arc<Entry>> {
        self.entries(&self.store.prefix(namespace))
    }

    /// True if a namespace has no objects of the kind.
    pub fn is_empty_in(&self, namespace: &str) -> bool {
        self.store.collection().is_empty(&self.store.prefix(namespace))
    }

    fn entries(&self, prefix: &str) -> Vec<Arc<Entry>> {
        // The newest state is never compacted.
        let page = self.store.collection().list(&ListQuery::all(prefix));
        page.map_or_else(|_| Vec::new(), |page| page.entries)
    }

    /// Returns the kind with its names alone, so that its schema can go.
    fn without_definition(&self) -> Self {
        Self {
            store: Arc::new(self.store.without_definition()),
            resource: self.resource.clone(),
        }
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

#[cfg(test)]
impl ServedKind {
    /// Creates a kind for tests that only has a store.
    pub fn of(store: &Arc<ResourceStore>) -> Self {
        let facts = store.facts();
        let resource = ServedResource {
            group: facts.group.clone(),
            version: facts.version.clone(),
            plural: facts.plural.clone(),
            singular: "".into(),
            kind: facts.kind.clone(),
            short_names: Vec::new(),
            categories: Vec::new(),
            scope: facts.scope,
            verbs: Vec::new(),
            hidden_verbs: Vec::new(),
            stored_as: None,
            subresources: Vec::new(),
        };
        Self {
            store: Arc::clone(store),
            resource,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use planesmith_api_defs::core::v1::{ConfigMap, Node};
    use planesmith_dynamic::custom::CustomKind;
    use planesmith_machinery::object::Resource as _;
    use planesmith_machinery::resource::{ResourceFacts, ResourceTable};
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::{MemoryLog, Storage, StorageOptions};

    use super::*;

    fn kinds(stores: impl IntoIterator<Item = Arc<ResourceStore>>) -> Kinds {
        let mut kinds = Kinds::default();
        for store in stores {
            kinds.add(&store, &ServedKind::of(&store).resource);
        }
        kinds
    }

    /// Creates a kind of its own group, as for a definition.
    fn custom(number: usize) -> ResourceFacts {
        let table = ResourceTable {
            group: Cow::Owned(format!("g{number}.example.com")),
            plural: Cow::Borrowed("rocks"),
            ..CustomKind::FACTS
        };
        ResourceFacts::defined(vec![table], 0).remove(0)
    }

    #[test]
    fn kinds_that_are_gone_are_known_for_a_while() {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let open = |facts: &ResourceFacts| Arc::new(ResourceStore::with_versions(&storage, facts, &Scheme::new()));
        let builtin = || [open(ConfigMap::RESOURCE), open(Node::RESOURCE)];
        let mut known = Kinds::default();
        let mut forgotten = Vec::new();
        for number in 0..GONE + 2 {
            forgotten.extend(known.learn(kinds(builtin().into_iter().chain([open(&custom(number))]))));
        }
        assert_eq!(known.iter().count(), 2 + GONE + 1);
        assert_eq!(forgotten.len(), 1);
        assert!(known.under(&forgotten[0]).is_none() && known.named("v1", "ConfigMap").is_some());
    }
}
