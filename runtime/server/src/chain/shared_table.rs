//! A route table that can be swapped while serving.

use std::fmt;
use std::sync::{Arc, Weak};

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use crate::metrics::{Inventory, StoredCounts};
use crate::request::RequestInfo;
use crate::routes::RouteTable;

/// The route table of a server. Swapping it changes the server's answers from the next request on. Clones share it.
#[derive(Clone)]
pub struct SharedTable {
    inner: Arc<Inner>,
}

/// A reference to a [`SharedTable`] for parts that the handlers in the table own.
#[derive(Clone)]
pub struct WeakTable {
    inner: Weak<Inner>,
}

struct Inner {
    current: ArcSwap<RouteTable>,
    changes: watch::Sender<()>,
}

impl SharedTable {
    /// Returns a shared table that starts with `table`.
    #[must_use]
    pub fn new(table: RouteTable) -> Self {
        Self {
            inner: Arc::new(Inner {
                current: ArcSwap::from_pointee(table),
                changes: watch::Sender::default(),
            }),
        }
    }

    /// The current table.
    #[must_use]
    pub fn load(&self) -> Guard<Arc<RouteTable>> {
        self.inner.current.load()
    }

    /// The current table, as an owned reference.
    #[must_use]
    pub fn load_full(&self) -> Arc<RouteTable> {
        self.inner.current.load_full()
    }

    /// Replaces the table and notifies the subscribers.
    pub fn store(&self, table: Arc<RouteTable>) {
        self.inner.current.store(table);
        self.inner.changes.send_replace(());
    }

    /// Returns a reference that does not keep the table.
    #[must_use]
    pub fn downgrade(&self) -> WeakTable {
        let inner = Arc::downgrade(&self.inner);
        WeakTable { inner }
    }

    /// Subscribes to all later swaps.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.inner.changes.subscribe()
    }
}

impl WeakTable {
    /// Returns the table; `None` if its server is gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<SharedTable> {
        let inner = self.inner.upgrade()?;
        Some(SharedTable { inner })
    }
}

/// The resources of the servers of a chain.
impl Inventory for Vec<SharedTable> {
    fn serves(&self, info: &RequestInfo) -> bool {
        self.iter().any(|table| table.load().serves(info))
    }

    fn stored(&self) -> Vec<StoredCounts> {
        let tables = self.iter().map(SharedTable::load_full);
        let counts = |table: Arc<RouteTable>| {
            let handlers = table.handlers();
            handlers.filter_map(|handler| handler.stored()).collect::<Vec<_>>()
        };
        tables.flat_map(counts).collect()
    }
}

impl fmt::Debug for WeakTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakTable").finish_non_exhaustive()
    }
}

impl fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedTable").field(&self.load()).finish()
    }
}
