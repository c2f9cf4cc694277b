//! Searches of types for fields with a property.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, PoisonError, RwLock};

use planesmith_machinery::facts::{FieldFacts, StructFacts, TypeFacts};

type Predicate = fn(&'static FieldFacts) -> bool;

/// A search of types for a field with a property, in the type and in all types of its fields. Each type is searched once.
pub(super) struct FieldSearch {
    is_match: Predicate,
    /// True for fields whose types are searched, too.
    enters: Predicate,
    /// The results, by the addresses of the tables of the types.
    results: LazyLock<RwLock<HashMap<usize, bool>>>,
}

impl FieldSearch {
    pub(super) const fn new(is_match: Predicate, enters: Predicate) -> Self {
        Self {
            is_match,
            enters,
            results: LazyLock::new(RwLock::default),
        }
    }

    /// A search that enters all fields.
    pub(super) const fn everywhere(is_match: Predicate) -> Self {
        Self::new(is_match, |_| true)
    }

    /// True if the type has such a field.
    pub(super) fn finds_in(&self, facts: &'static StructFacts) -> bool {
        let address = std::ptr::from_ref(facts).addr();
        // A lock that a panic left behind still holds a whole map.
        if let Some(known) = self
            .results
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&address)
        {
            return *known;
        }
        let found = self.search(facts, &mut HashSet::new());
        let mut results = self.results.write().unwrap_or_else(PoisonError::into_inner);
        results.insert(address, found);
        found
    }

    /// Like [`Self::finds_in`], for any type: that of the elements of a list, or of the entries of a map.
    pub(super) fn finds_in_type(&self, ty: &'static TypeFacts) -> bool {
        struct_in(ty).is_some_and(|facts| self.finds_in(facts))
    }

    fn search(&self, facts: &'static StructFacts, seen: &mut HashSet<usize>) -> bool {
        seen.insert(std::ptr::from_ref(facts).addr())
            && facts.fields.iter().any(|field| {
                (self.is_match)(field)
                    || ((self.enters)(field) && struct_in(&field.ty).is_some_and(|inner| self.search(inner, seen)))
            })
    }
}

/// The struct of which a value of the type consists, or its elements or entries do.
fn struct_in(ty: &'static TypeFacts) -> Option<&'static StructFacts> {
    match ty {
        TypeFacts::Struct(facts) => Some(facts()),
        TypeFacts::List(inner) | TypeFacts::Map(inner) | TypeFacts::Optional(inner) => struct_in(inner),
        _ => None,
    }
}
