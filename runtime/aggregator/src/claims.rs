//! Routing of group versions to other servers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_server::chain::{ApiServer, SharedTable};
use planesmith_server::routes::{Routes, VersionHandler};

/// The group versions that are routed to other servers, changeable at run time. Clones share their state.
///
/// A claimed version hides the whole version of the servers further down the chain; other versions of the group are not
/// affected.
#[derive(Clone)]
pub struct Claims {
    table: SharedTable,
    // Locked while the table is rebuilt, so that changes are serialized.
    claimed: Arc<Mutex<Claimed>>,
}

/// Handlers by group and version.
type Claimed = BTreeMap<(String, String), Arc<dyn VersionHandler>>;

impl Claims {
    /// Creates the claims of `server`, initially empty, in front of its declared resources.
    #[must_use]
    pub fn of(server: &mut ApiServer) -> Self {
        Self {
            table: server.add_table_before(),
            claimed: Arc::default(),
        }
    }

    /// Routes a group version to `handler`, replacing a previous claim.
    pub fn claim(&self, group: impl Into<String>, version: impl Into<String>, handler: Arc<dyn VersionHandler>) {
        let place = (group.into(), version.into());
        self.change(|claimed| {
            claimed.insert(place, handler);
            true
        });
    }

    /// Routes a group version to the next server of the chain again.
    pub fn release(&self, group: &str, version: &str) {
        self.change(|claimed| claimed.remove(&(group.to_owned(), version.to_owned())).is_some());
    }

    /// Rebuilds and swaps the table if `change` returns true.
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
