//! Facts of types that are found by a search, once per type.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use planesmith_machinery::facts::StructFacts;

/// The types of which a fact is known, by the addresses of their tables.
pub(super) struct KnownTypes(LazyLock<RwLock<HashMap<usize, bool>>>);

impl KnownTypes {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    /// Returns the fact of a type; `find` searches for it the first time.
    pub(super) fn is_so(&self, facts: &'static StructFacts, find: impl FnOnce() -> bool) -> bool {
        let address = std::ptr::from_ref(facts).addr();
        // A lock that a panic left behind still holds a whole map.
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&address) {
            return *known;
        }
        let found = find();
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(address, found);
        found
    }
}
