//! The kinds that are served at the moment, for parts that are created before the servers.

use std::fmt;
use std::sync::{Arc, OnceLock};

use planesmith_server::chain::{SharedTable, WeakTable};
use planesmith_server::discovery::ServedResource;

/// The kinds that a chain of servers serves, custom ones included. Clones share them; empty until connected.
#[derive(Clone, Default)]
pub struct LiveKinds {
    /// Not owned: admission plugins, which the handlers in the tables own, have these kinds.
    tables: Arc<OnceLock<Vec<WeakTable>>>,
}

impl LiveKinds {
    /// Connects to `tables`, those of a chain.
    pub fn connect(&self, tables: &[SharedTable]) {
        // A second chain would have the same tables.
        let _ = self.tables.set(tables.iter().map(SharedTable::downgrade).collect());
    }

    /// Returns the resource whose objects are of this kind.
    pub fn find(&self, group: &str, version: &str, kind: &str) -> Option<ServedResource> {
        let is_it = |facts: &ServedResource| facts.group == group && facts.version == version && facts.kind == kind;
        self.tables.get()?.iter().find_map(|table| {
            let table = table.upgrade()?;
            let table = table.load();
            let found = table
                .handlers()
                .map(|handler| handler.facts())
                .find(|facts| is_it(facts));
            found.cloned()
        })
    }
}

impl fmt::Debug for LiveKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveKinds").finish_non_exhaustive()
    }
}
