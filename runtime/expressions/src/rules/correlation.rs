//! Which part of an old document a part of a new one was.

use planesmith_machinery::structural::Structural;
use serde_json::Value as Json;

/// What a part of a document was before, and what the smallest part around it was that had an old form.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlation<'d> {
    current: Option<Pair<'d>>,
    parent: Option<Pair<'d>>,
}

/// A part of a document, what it was before, and the schema of both.
#[derive(Clone, Copy, Debug)]
struct Pair<'d> {
    new: &'d Json,
    old: &'d Json,
    schema: &'d Structural,
}

impl<'d> Correlation<'d> {
    pub(super) fn new(new: &'d Json, old: Option<&'d Json>, schema: &'d Structural) -> Self {
        Self {
            current: old.map(|old| Pair { new, old, schema }),
            parent: None,
        }
    }

    /// Errors of what did not change may stay.
    pub(super) fn is_unchanged(&self) -> bool {
        let pair = self.current.or(self.parent);
        pair.is_some_and(|Pair { new, old, schema }| schema.is_same(new, old))
    }

    pub(super) fn key(self, name: &str) -> Self {
        let Some(Pair { new, old, schema }) = self.current else {
            return self;
        };
        if self.parent.is_none() && matches!(name, "apiVersion" | "kind") {
            return Self::default();
        }
        let pair = |schema| {
            let (new, old) = new.get(name).zip(old.get(name))?;
            Some(Pair { new, old, schema })
        };
        Self {
            current: schema.field(name).and_then(pair),
            parent: self.current,
        }
    }

    /// For `new`, an element of a list of elements of the type `schema`, and its counterpart.
    pub(super) fn element(self, new: &'d Json, old: Option<&'d Json>, schema: &'d Structural) -> Self {
        if self.current.is_none() {
            return self;
        }
        Self {
            current: old.map(|old| Pair { new, old, schema }),
            parent: self.current,
        }
    }
}
