//! The open collections of a store.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock};

use crate::Collection;

/// The open collections by prefix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collections {
    by_prefix: Arc<RwLock<BTreeMap<Box<str>, Arc<Collection>>>>,
}

impl Collections {
    pub(crate) fn all(&self) -> Vec<Arc<Collection>> {
        self.by_prefix
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }

    /// The collection that `key` belongs to.
    pub(crate) fn of(&self, key: &str) -> Option<Arc<Collection>> {
        let by_prefix = self.by_prefix.read().unwrap_or_else(PoisonError::into_inner);
        // Prefixes do not nest, so the last one that is not greater than the key is the only candidate.
        let (_, collection) = by_prefix
            .range::<str, _>((Bound::Unbounded, Bound::Included(key)))
            .next_back()?;
        key.starts_with(collection.prefix()).then(|| Arc::clone(collection))
    }

    pub(crate) fn get(&self, prefix: &str) -> Option<Arc<Collection>> {
        self.by_prefix
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(prefix)
            .cloned()
    }

    /// Forgets the collections without users in which nothing is left, not even history. A later one with the same
    /// prefix begins like them.
    pub(crate) fn forget_unused(&self) {
        // Others get a collection only from here, so that no unused one is taken meanwhile.
        let mut by_prefix = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        by_prefix.retain(|_, collection| Arc::strong_count(collection) > 1 || !collection.has_nothing());
    }

    pub(crate) fn add(&self, collection: Arc<Collection>) {
        let mut by_prefix = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        by_prefix.insert(collection.prefix().into(), collection);
    }
}
