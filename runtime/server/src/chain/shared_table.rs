//! A route table that can be swapped while serving.

use std::fmt;
use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use tokio::sync::watch;

use crate::routes::RouteTable;

/// The table that a server looks into; swapping it changes what the server answers from the next request on. Clones
/// share it.
#[derive(Clone)]
pub struct SharedTable {
    inner: Arc<Inner>,
}

struct Inner {
    current: ArcSwap<RouteTable>,
    changes: watch::Sender<()>,
}

impl SharedTable {
    /// A server's table, to begin with.
    #[must_use]
    pub fn new(table: RouteTable) -> Self {
        Self {
            inner: Arc::new(Inner {
                current: ArcSwap::from_pointee(table),
                changes: watch::Sender::default(),
            }),
        }
    }

    /// The table of this moment.
    #[must_use]
    pub fn load(&self) -> Guard<Arc<RouteTable>> {
        self.inner.current.load()
    }

    /// The table of this moment, to be kept.
    #[must_use]
    pub fn load_full(&self) -> Arc<RouteTable> {
        self.inner.current.load_full()
    }

    /// Puts another table in its place, and tells those who follow.
    pub fn store(&self, table: Arc<RouteTable>) {
        self.inner.current.store(table);
        self.inner.changes.send_replace(());
    }

    /// Hears of every swap from now on.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.inner.changes.subscribe()
    }
}

impl fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedTable").field(&self.load()).finish()
    }
}
