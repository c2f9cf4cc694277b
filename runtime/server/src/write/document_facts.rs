//! Facts of a document that the object of a write does not have.

use std::sync::Arc;

use bytes::Bytes;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_patch::fields::{self, Set};
use serde_json::Value;

use crate::representation::Representation;

/// Facts of the document of a new object that the object does not have: it does not distinguish empty fields from absent ones,
/// and has no fields that its type does not know.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentFacts {
    /// Empty fields that the writer manages.
    pub(super) managed: Set<'static>,
    /// Empty fields, for messages and for the strategy of the kind.
    pub(super) sent_empty: SentEmpty,
    /// True if the document had fields that are not stored, and yet count as a change.
    pub(super) has_pruned_fields: bool,
}

impl DocumentFacts {
    /// Those of a body or a patched document; `json` is empty for protobuf, which does not distinguish empty fields either.
    pub(crate) fn by(representation: &dyn Representation, facts: &'static StructFacts, json: &Bytes) -> Self {
        match representation.keeps_empty() || json.is_empty() {
            true => Self::default(),
            false => Self {
                managed: fields::sent_empty(facts, json),
                sent_empty: SentEmpty::new(facts, json),
                ..Self::default()
            },
        }
    }

    /// Those of an applied configuration. Its manager is known: it manages all fields of the configuration.
    pub(crate) fn by_configuration(
        representation: &dyn Representation,
        facts: &'static StructFacts,
        document: &Arc<Value>,
    ) -> Self {
        match representation.keeps_empty() {
            true => Self::default(),
            false => Self {
                sent_empty: SentEmpty::of_tree(facts, document),
                ..Self::default()
            },
        }
    }

    /// Adds the places of applied fields that are not stored. kube-apiserver drops them after it has compared the object with the
    /// old one, except in a status, which it restores before.
    pub(crate) fn add_pruned(&mut self, kind: &ResourceFacts, pruned: &[String]) {
        let has_status = kind.subresource("status").is_some();
        let is_in_status = |place: &String| place.split(['.', '[']).next() == Some("status");
        self.has_pruned_fields = pruned.iter().any(|place| !(has_status && is_in_status(place)));
    }
}
