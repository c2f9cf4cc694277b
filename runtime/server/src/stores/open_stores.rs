//! The stores of kinds that are open.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use planesmith_machinery::group_version::GroupKind;
use planesmith_machinery::resource::ResourceFacts;

use super::ResourceStore;

/// The open stores, by group and kind of the storage version. A kind that is defined at run time may have the names of another one.
#[derive(Debug, Default)]
pub(super) struct OpenStores {
    permanent: HashMap<GroupKind, Arc<ResourceStore>>,
    /// Stores that are open while they are used.
    while_used: HashMap<GroupKind, Weak<ResourceStore>>,
    /// Size of `while_used` at which names without a store are removed.
    limit: usize,
}

impl OpenStores {
    /// The store of the kind with the storage version `hub`; `open` opens it.
    pub(super) fn of(&mut self, hub: &ResourceFacts, open: impl FnOnce() -> ResourceStore) -> Arc<ResourceStore> {
        let name = hub.group_kind();
        let permanent = self.permanent.get(&name).cloned();
        let in_use = self.while_used.get(&name).and_then(Weak::upgrade);
        let known = permanent.into_iter().chain(in_use).find(|store| store.facts() == hub);
        known.unwrap_or_else(|| {
            let store = Arc::new(open());
            if store.is_adapted() {
                self.make_room();
                self.while_used.insert(name, Arc::downgrade(&store));
            } else {
                self.permanent.insert(name, Arc::clone(&store));
            }
            store
        })
    }

    fn make_room(&mut self) {
        if self.while_used.len() >= self.limit {
            self.while_used.retain(|_, store| store.strong_count() > 0);
            // Half of the names are new before all are looked at again.
            self.limit = (2 * self.while_used.len()).max(64);
        }
    }
}
