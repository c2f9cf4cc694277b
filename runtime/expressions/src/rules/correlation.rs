//! Which part of an old document a part of a new one was.

use planesmith_machinery::structural::{ListKind, Structural};
use serde_json::Value as Json;

/// What a part of a document was before, and what the smallest part around it was that had an old form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlation<'d> {
    current: Option<(&'d Json, &'d Json)>,
    parent: Option<(&'d Json, &'d Json)>,
}

impl<'d> Correlation<'d> {
    pub(super) fn new(new: &'d Json, old: Option<&'d Json>) -> Self {
        Self {
            current: old.map(|old| (new, old)),
            parent: None,
        }
    }

    /// Errors of what did not change may stay.
    pub(super) fn is_unchanged(&self) -> bool {
        self.current.or(self.parent).is_some_and(|(new, old)| new == old)
    }

    pub(super) fn key(self, name: &str) -> Self {
        let Some((new, old)) = self.current else { return self };
        if self.parent.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self::default();
        }
        Self {
            current: new.get(name).zip(old.get(name)),
            parent: self.current,
        }
    }

    pub(super) fn element(self, element: &'d Json, schema: &Structural) -> Self {
        let Some((_, old)) = self.current else { return self };
        Self {
            current: old_element(element, Some(old), schema).map(|old| (element, old)),
            parent: self.current,
        }
    }
}

/// The element of an old list with the same keys; only lists of the type `map` have such.
pub(super) fn old_element<'d>(element: &Json, old: Option<&'d Json>, schema: &Structural) -> Option<&'d Json> {
    let ListKind::Map(keys) = &schema.list else {
        return None;
    };
    let is_same = |old: &&Json| keys.iter().all(|key| old.get(&**key) == element.get(&**key));
    old?.as_array()?.iter().find(is_same)
}
