//! Correlates parts of a new document with parts of the old one.

use planesmith_dynamic::structural::Structural;
use serde_json::Value as Json;

/// The old counterpart of a part of a document, or else of its closest ancestor that has one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Correlation<'d> {
    current: Option<Pair<'d>>,
    parent: Option<Pair<'d>>,
}

/// A part of a document, its old counterpart, and their schema.
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

    /// True if the part did not change, so that its violations are tolerated.
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

    /// Descends to `new`, an element with the schema `schema`, and its counterpart `old`.
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
