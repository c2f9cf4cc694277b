//! The custom resources that are served.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::routes::{ResourceHandler, Routes};

/// The custom resources of a server, to be changed while it serves. Clones are about the same server.
///
/// Every change swaps the server's whole table: a request sees the resources as they were before or after it, and
/// discovery follows at once.
#[derive(Clone)]
pub struct CustomResources {
    table: SharedTable,
    // Held while the table is rebuilt, so that changes follow one another.
    defined: Arc<Mutex<Defined>>,
}

/// Versions by the name of their definition.
type Defined = BTreeMap<String, Vec<Arc<dyn ResourceHandler>>>;

impl CustomResources {
    /// The custom resources of `server`, which are none.
    #[must_use]
    pub fn of(server: &ApiServer) -> Self {
        Self {
            table: server.table(),
            defined: Arc::default(),
        }
    }

    /// Serves the versions of one definition, in place of those that it had before.
    pub fn define(&self, name: impl Into<String>, versions: Vec<Arc<dyn ResourceHandler>>) {
        self.change(|defined| {
            defined.insert(name.into(), versions);
        });
    }

    /// Serves a definition no more.
    pub fn remove(&self, name: &str) {
        self.change(|defined| {
            defined.remove(name);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Defined)) {
        let mut defined = self.defined.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut defined);
        let mut routes = Routes::new();
        for handler in defined.values().flatten() {
            routes.open_group(handler.facts().group.as_ref());
            routes.add(Arc::clone(handler));
        }
        self.table.store(Arc::new(routes.build()));
    }
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
