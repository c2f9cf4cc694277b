//! Group versions that other servers answer for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::routes::{Routes, VersionHandler};

/// The group versions that are claimed, to be changed while serving. Clones are about the same server.
///
/// A claimed version hides the same version of the servers further in, as a whole; the group's other versions are left to
/// them.
#[derive(Clone)]
pub struct Claims {
    table: SharedTable,
    // Held while the table is rebuilt, so that changes follow one another.
    claimed: Arc<Mutex<Claimed>>,
}

/// Who answers, by group and version.
type Claimed = BTreeMap<(String, String), Arc<dyn VersionHandler>>;

impl Claims {
    /// The claims of `server`, which are none.
    #[must_use]
    pub fn of(server: &ApiServer) -> Self {
        Self {
            table: server.table(),
            claimed: Arc::default(),
        }
    }

    /// Lets `handler` answer for a group version, in place of the one that did before.
    pub fn claim(&self, group: impl Into<String>, version: impl Into<String>, handler: Arc<dyn VersionHandler>) {
        let place = (group.into(), version.into());
        self.change(|claimed| {
            claimed.insert(place, handler);
            true
        });
    }

    /// Leaves a group version to the servers further in.
    pub fn release(&self, group: &str, version: &str) {
        self.change(|claimed| claimed.remove(&(group.to_owned(), version.to_owned())).is_some());
    }

    /// Swaps the table, if `change` changes something.
    fn change(&self, change: impl FnOnce(&mut Claimed) -> bool) {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if !change(&mut claimed) {
            return;
        }
        let mut routes = Routes::new();
        for ((group, version), handler) in &*claimed {
            routes.open_group(group);
            routes.claim(group, version, Arc::clone(handler));
        }
        self.table.store(Arc::new(routes.build()));
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
