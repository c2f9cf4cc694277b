//! The stores of kinds that are open.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::resource::ResourceFacts;

use super::ResourceStore;
use crate::representation;

/// The open stores, by group and kind of the storage version. Those of custom kinds are open while they are used.
#[derive(Debug, Default)]
pub(super) struct OpenStores {
    declared: HashMap<GroupKind, Arc<ResourceStore>>,
    defined: HashMap<GroupKind, Weak<ResourceStore>>,
    /// Size of `defined` at which names without a store are removed.
    limit: usize,
}

impl OpenStores {
    /// The store of the kind with the storage version `hub`; `open` opens it.
    pub(super) fn of(&mut self, hub: &ResourceFacts, open: impl FnOnce() -> ResourceStore) -> Arc<ResourceStore> {
        let name = hub.group_kind();
        let is_of = |store: &Arc<ResourceStore>| store.facts() == hub;
        if !representation::of(hub).is_redefinable() {
            let known = self.declared.get(&name).filter(|store| is_of(store)).cloned();
            return known.unwrap_or_else(|| {
                let store = Arc::new(open());
                self.declared.insert(name, Arc::clone(&store));
                store
            });
        }
        let known = self.defined.get(&name).and_then(Weak::upgrade).filter(is_of);
        known.unwrap_or_else(|| {
            let store = Arc::new(open());
            self.make_room();
            self.defined.insert(name, Arc::downgrade(&store));
            store
        })
    }

    fn make_room(&mut self) {
        if self.defined.len() >= self.limit {
            self.defined.retain(|_, store| store.strong_count() > 0);
            // Half of the names are new before all are looked at again.
            self.limit = (2 * self.defined.len()).max(64);
        }
    }
}
