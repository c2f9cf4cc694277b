//! Results that are computed from stored objects.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::ResourceStore;
use arc_swap::ArcSwapOption;

/// A result that is computed from the stored objects of some kinds, and lives until one of these changes.
///
/// A request that finds it computed pays for a comparison per kind; the first one after a change computes it anew, so a change is
/// effective as soon as its write is acknowledged.
pub struct Derived<T> {
    stores: Vec<Arc<ResourceStore>>,
    current: ArcSwapOption<(Marks, Arc<T>)>,
    /// Locked while the result is computed, so that only one request does it.
    computing: Mutex<()>,
}

/// The generations of the stores, which identify their state.
type Marks = Vec<u64>;

impl<T> Derived<T> {
    /// Returns a result that depends on all objects in `stores`.
    #[must_use]
    pub fn new(stores: Vec<Arc<ResourceStore>>) -> Self {
        Self {
            stores,
            current: ArcSwapOption::empty(),
            computing: Mutex::default(),
        }
    }

    /// Returns the result for the current objects, which `compute` returns for the stores and the previous result.
    pub fn get(&self, compute: impl FnOnce(&[Arc<ResourceStore>], Option<&T>) -> T) -> Arc<T> {
        if let Some(current) = self.fresh() {
            return current;
        }
        let _computing = self.computing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(current) = self.fresh() {
            return current;
        }
        // Read before the objects: a change in between makes the result stale at once, and not wrong for ever.
        let marks = self.marks();
        let previous = self.current.load_full();
        let result = Arc::new(compute(&self.stores, previous.as_deref().map(|(_, result)| &**result)));
        self.current.store(Some(Arc::new((marks, Arc::clone(&result)))));
        result
    }

    /// Passes the result for the current objects to `read`: as [`Derived::get`], without shared ownership, which requests on several
    /// threads would pay for.
    pub fn with<R>(
        &self,
        compute: impl FnOnce(&[Arc<ResourceStore>], Option<&T>) -> T,
        read: impl FnOnce(&T) -> R,
    ) -> R {
        match &*self.current.load() {
            Some(current) if self.is_fresh(current) => read(&current.1),
            _ => read(&self.get(compute)),
        }
    }

    fn fresh(&self) -> Option<Arc<T>> {
        let current = self.current.load();
        let current = current.as_ref().filter(|current| self.is_fresh(current))?;
        Some(Arc::clone(&current.1))
    }

    fn is_fresh(&self, (marks, _): &(Marks, Arc<T>)) -> bool {
        let mut stores = self.stores.iter().zip(marks);
        stores.all(|(store, mark)| mark_of(store) == *mark)
    }

    fn marks(&self) -> Marks {
        self.stores.iter().map(|store| mark_of(store)).collect()
    }
}

fn mark_of(store: &ResourceStore) -> u64 {
    store.collection().generation()
}

impl<T> fmt::Debug for Derived<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derived").finish_non_exhaustive()
    }
}
