//! The kinds that are served and stored, built-in and custom, as they change.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::select_all;
use planesmith_machinery::resource::{Scope, Text};
use planesmith_server::chain::SharedTable;
use planesmith_server::discovery::ServedResource;
use planesmith_server::request::Verb;
use planesmith_server::routes::{ResourceHandler, RouteTable};
use planesmith_server::stores::ResourceStore;
use planesmith_store::{Entry, ListQuery};
use tokio::sync::watch;
use tokio::time::Instant;

/// The time for which changes are collected: definitions often come in bursts, and each report has a cost.
const COLLECTED_FOR: Duration = Duration::from_millis(50);

/// Follows the kinds that the servers of a chain serve.
pub struct ServedKinds {
    tables: Vec<SharedTable>,
    /// The tables of the last [`ServedKinds::changes`].
    seen: Vec<Arc<RouteTable>>,
    swaps: Vec<watch::Receiver<()>>,
    /// The time at which [`ServedKinds::changed`] reports a change that it has seen.
    due: Option<Instant>,
}

/// The difference between the served kinds at two moments; proportional to what changed.
#[derive(Debug, Default)]
pub struct KindChanges {
    /// Versions that are served since, and those that are served anew.
    served: Vec<Arc<ServedKind>>,
    /// Versions that are no longer served, and the former state of those that are served anew.
    withdrawn: Vec<Arc<ServedKind>>,
}

/// A snapshot of the served kinds.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    /// The kinds, by the prefix of their objects' keys.
    by_prefix: BTreeMap<Arc<str>, Versions>,
    /// The prefixes, by API version and kind of each served version.
    by_name: HashMap<Name, Arc<str>>,
    /// The prefixes of kinds that are no longer served.
    unserved: BTreeSet<Arc<str>>,
    /// Those of them that have no objects, the oldest first.
    removed: VecDeque<Arc<str>>,
}

/// An API version and a kind.
type Name = (String, String);

/// The versions of a kind.
#[derive(Clone, Debug)]
struct Versions {
    /// The kind in the best of its versions: the storage version if that is served.
    best: Arc<ServedKind>,
    /// All served versions.
    served: Vec<Arc<ServedKind>>,
    /// The names under which it was served.
    names: BTreeSet<Name>,
}

/// The number of deleted kinds that are remembered: dependents of their objects may still have to be processed.
const MAX_REMOVED: usize = 64;

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
    pub fn from_tables(tables: &[SharedTable]) -> Self {
        Self {
            seen: tables.iter().map(|_| Arc::default()).collect(),
            swaps: tables.iter().map(SharedTable::changes).collect(),
            due: None,
            tables: tables.to_vec(),
        }
    }

    /// Returns the stored kinds that are served now. Reads all of them; code that follows the kinds uses
    /// [`ServedKinds::changes`].
    pub fn now(&self) -> Kinds {
        let mut kinds = Kinds::default();
        kinds.update(Self::from_tables(&self.tables).changes());
        kinds
    }

    /// Returns the changes since the last call; at the first call all kinds.
    pub fn changes(&mut self) -> KindChanges {
        let stored = |handler: &Arc<dyn ResourceHandler>| {
            let store = Arc::clone(handler.objects()?);
            let resource = handler.facts().clone();
            Some(Arc::new(ServedKind { store, resource }))
        };
        let mut changes = KindChanges::default();
        for (table, seen) in self.tables.iter().zip(&mut self.seen) {
            let now = table.load_full();
            changes.served.extend(now.handlers_missing_in(seen).filter_map(stored));
            changes
                .withdrawn
                .extend(seen.handlers_missing_in(&now).filter_map(stored));
            *seen = now;
        }
        changes
    }

    /// Waits until the served kinds change, and then for a moment for further changes. May be dropped and called again.
    pub async fn changed(&mut self) {
        if self.due.is_none() {
            let swaps = self.swaps.iter_mut().map(|table| Box::pin(table.changed()));
            // The tables live as long as their receivers here.
            let _ = select_all(swaps).await;
        }
        let due = *self.due.get_or_insert_with(|| Instant::now() + COLLECTED_FOR);
        tokio::time::sleep_until(due).await;
        self.due = None;
        self.swaps.iter_mut().for_each(watch::Receiver::mark_unchanged);
    }
}

impl KindChanges {
    /// True if a version is served that was not, or in another way.
    pub fn serves_more(&self) -> bool {
        !self.served.is_empty()
    }
}

impl Versions {
    fn from_kind(kind: &Arc<ServedKind>) -> Self {
        Self {
            best: Arc::clone(kind),
            served: Vec::new(),
            names: BTreeSet::new(),
        }
    }

    fn remove(&mut self, version: &ServedKind) {
        self.served.retain(|served| !served.is_version_of(version));
    }

    fn add(&mut self, version: Arc<ServedKind>) {
        self.remove(&version);
        self.names.insert(version.name());
        self.served.push(version);
    }
}

impl Kinds {
    /// Applies changes. Returns the kinds that they concern; those that are no longer served are forgotten.
    pub fn update(&mut self, changes: KindChanges) -> Vec<Arc<ServedKind>> {
        let changed = self.apply(changes);
        let concerned = changed
            .iter()
            .filter_map(|prefix| self.under(prefix).cloned())
            .collect();
        for prefix in std::mem::take(&mut self.unserved) {
            self.forget(&prefix);
        }
        concerned
    }

    /// Applies changes. Kinds that are no longer served are remembered while they have objects, and for a while after
    /// that. Returns the kinds that are served since or anew, and the prefixes of those that are remembered no longer.
    pub fn learn(&mut self, changes: KindChanges) -> (Vec<Arc<ServedKind>>, Vec<Arc<str>>) {
        let changed = self.apply(changes);
        let served = changed.iter().filter(|prefix| !self.unserved.contains(*prefix));
        let served = served.filter_map(|prefix| self.under(prefix).cloned()).collect();
        self.removed.retain(|prefix| self.unserved.contains(prefix));
        for prefix in &self.unserved {
            let Some(kind) = self.by_prefix.get_mut(prefix) else {
                continue;
            };
            if !self.removed.contains(prefix) && kind.best.store.collection().is_empty(prefix) {
                kind.best = Arc::new(kind.best.without_definition());
                self.removed.push_back(Arc::clone(prefix));
            }
        }
        let forgotten: Vec<Arc<str>> = self
            .removed
            .drain(..self.removed.len().saturating_sub(MAX_REMOVED))
            .collect();
        for prefix in &forgotten {
            self.unserved.remove(prefix);
            self.forget(prefix);
        }
        (served, forgotten)
    }

    /// Applies changes. Returns the prefixes of the kinds that they concern.
    fn apply(&mut self, changes: KindChanges) -> BTreeSet<Arc<str>> {
        let mut concerned = BTreeSet::new();
        for version in &changes.withdrawn {
            if let Some(kind) = self.by_prefix.get_mut(version.prefix()) {
                kind.remove(version);
                concerned.insert(version.prefix().into());
            }
        }
        for version in changes.served {
            let prefix: Arc<str> = version.prefix().into();
            self.by_name.insert(version.name(), Arc::clone(&prefix));
            let kind = self.by_prefix.entry(Arc::clone(&prefix));
            kind.or_insert_with(|| Versions::from_kind(&version)).add(version);
            concerned.insert(prefix);
        }
        for prefix in &concerned {
            let Some(kind) = self.by_prefix.get_mut(prefix) else {
                continue;
            };
            let best = kind.served.iter().min_by_key(|version| version.rank()).cloned();
            if let Some(best) = best {
                kind.best = best;
                self.unserved.remove(prefix);
            } else {
                self.unserved.insert(Arc::clone(prefix));
            }
        }
        concerned
    }

    fn forget(&mut self, prefix: &str) {
        let names = self.by_prefix.remove(prefix).map(|kind| kind.names);
        for name in names.into_iter().flatten() {
            // Another kind may have the name since.
            if self.by_name.get(&name).is_some_and(|known| **known == *prefix) {
                self.by_name.remove(&name);
            }
        }
    }

    /// Iterates over all kinds, each once however many versions it has.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ServedKind>> {
        self.by_prefix.values().map(|kind| &kind.best)
    }

    /// Returns the kind whose keys start with `prefix`.
    pub fn under(&self, prefix: &str) -> Option<&Arc<ServedKind>> {
        self.by_prefix.get(prefix).map(|kind| &kind.best)
    }

    /// True if the kind whose keys start with `prefix` is served.
    pub fn serves(&self, prefix: &str) -> bool {
        self.by_prefix.contains_key(prefix) && !self.unserved.contains(prefix)
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

    fn name(&self) -> Name {
        (self.api_version(), self.resource.kind.to_string())
    }

    /// True if both are of the same group and version.
    fn is_version_of(&self, other: &Self) -> bool {
        self.resource.group == other.resource.group && self.resource.version == other.resource.version
    }

    /// The place among the versions of the kind; the least is the best.
    fn rank(&self) -> (bool, Text, Text) {
        let hub = self.store.facts();
        let is_hub = self.resource.group == hub.group && self.resource.version == hub.version;
        (!is_hub, self.resource.group.clone(), self.resource.version.clone())
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
    pub fn from_store(store: &Arc<ResourceStore>) -> Self {
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
            is_custom: false,
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
mod tests;
