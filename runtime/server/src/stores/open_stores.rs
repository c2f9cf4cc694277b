//! The stores of kinds that are open.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::resource::ResourceFacts;

use super::ResourceStore;

/// The open stores, by group and kind of the storage version.
#[derive(Debug, Default)]
pub(super) struct OpenStores {
    stores: HashMap<GroupKind, OpenStore>,
    /// Size of `stores` at which names without a store are removed.
    limit: usize,
}

/// A store that was opened.
#[derive(Debug)]
enum OpenStore {
    /// It stays open.
    Permanent(Arc<ResourceStore>),
    /// It is open while it is used.
    WhileUsed(Weak<ResourceStore>),
}

impl OpenStore {
    fn new(store: &Arc<ResourceStore>) -> Self {
        match store.is_adapted() {
            true => Self::WhileUsed(Arc::downgrade(store)),
            false => Self::Permanent(Arc::clone(store)),
        }
    }

    fn get(&self) -> Option<Arc<ResourceStore>> {
        match self {
            Self::Permanent(store) => Some(Arc::clone(store)),
            Self::WhileUsed(store) => store.upgrade(),
        }
    }
}

impl OpenStores {
    /// The store of the kind with the storage version `hub`; `open` opens it.
    pub(super) fn of(&mut self, hub: &ResourceFacts, open: impl FnOnce() -> ResourceStore) -> Arc<ResourceStore> {
        let name = hub.group_kind();
        let known = self.stores.get(&name).and_then(OpenStore::get);
        known.filter(|store| store.facts() == hub).unwrap_or_else(|| {
            let store = Arc::new(open());
            self.make_room();
            self.stores.insert(name, OpenStore::new(&store));
            store
        })
    }

    fn make_room(&mut self) {
        if self.stores.len() >= self.limit {
            self.stores.retain(|_, store| store.get().is_some());
            // Half of the names are new before all are looked at again.
            self.limit = (2 * self.stores.len()).max(64);
        }
    }
}
