//! The served custom resources.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::routes::{ResourceHandler, Routes};

/// The custom resources of a server, changeable at run time. Clones share their state.
///
/// Every change swaps the server's route table atomically, and discovery follows at once. Only the changed group is rebuilt.
#[derive(Clone)]
pub struct CustomResources {
    table: SharedTable,
    // Locked while the table is rebuilt, so that changes are serialized.
    defined: Arc<Mutex<Defined>>,
}

/// Versions by group and by the name of their definition.
type Defined = BTreeMap<String, BTreeMap<String, Vec<Arc<dyn ResourceHandler>>>>;

impl CustomResources {
    /// Creates the custom resources of `server`, initially empty, behind its declared ones.
    #[must_use]
    pub fn of(server: &mut ApiServer) -> Self {
        Self {
            table: server.add_table_after(),
            defined: Arc::default(),
        }
    }

    /// Serves the versions of the definition `PLURAL.GROUP`, replacing its previous versions.
    pub fn define(&self, name: &str, versions: Vec<Arc<dyn ResourceHandler>>) {
        self.change(name, |definitions| {
            definitions.insert(name.to_owned(), versions);
        });
    }

    /// Stops serving a definition, if it is served.
    pub fn remove(&self, name: &str) {
        let group = group_of(name);
        let is_defined = {
            let defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
            defined.get(group).is_some_and(|group| group.contains_key(name))
        };
        if is_defined {
            self.change(name, |definitions| {
                definitions.remove(name);
            });
        }
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut BTreeMap<String, Vec<Arc<dyn ResourceHandler>>>)) {
        let group = group_of(name);
        let mut defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        let definitions = defined.entry(group.to_owned()).or_default();
        change(definitions);
        let mut routes = Routes::new();
        routes.open_group(group);
        for handler in definitions.values().flatten() {
            routes.add(Arc::clone(handler));
        }
        if definitions.is_empty() {
            defined.remove(group);
        }
        let table = self.table.load().with_group(group, &routes.build());
        self.table.store(Arc::new(table));
    }
}

fn group_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(_, group)| group)
}

impl fmt::Debug for CustomResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomResources")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
