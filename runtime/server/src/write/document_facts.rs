//! Facts of a document that the object of a write does not have.

use std::sync::Arc;

use bytes::Bytes;
use planesmith_dynamic::structural::PrunedPaths;
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
    pub(crate) fn add_pruned(&mut self, kind: &ResourceFacts, pruned: &PrunedPaths) {
        self.has_pruned_fields = match kind.subresource("status") {
            Some(_) => pruned.has_any_outside_status(),
            None => !pruned.is_empty(),
        };
    }
}

#[cfg(test)]
mod tests {
    use planesmith_dynamic::structural::Structural;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::object::Resource as _;
    use planesmith_machinery::{Resource, Struct};
    use serde_json::json;

    use super::*;

    #[derive(Clone, Debug, Default, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Plain")]
    struct Plain {
        metadata: ObjectMeta,
    }

    #[derive(Clone, Debug, Default, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "WithStatus", status)]
    struct WithStatus {
        metadata: ObjectMeta,
        status: Status,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Status {
        phase: String,
    }

    #[test]
    fn pruned_fields_of_a_status_that_is_a_subresource_are_no_change() {
        let schema = Structural::compile(&json!({"type": "object", "properties": {"status": {"type": "object"}}}));
        let many: serde_json::Map<String, Value> = (0..200).map(|number| (number.to_string(), json!(1))).collect();
        for (mut document, in_plain, in_with_status) in [
            (json!({"status": {}}), false, false),
            (json!({"status": many}), true, false),
            (json!({"status": many, "zone": 1}), true, true),
        ] {
            let pruned = schema.prune(&mut document);
            for (kind, expected) in [(Plain::RESOURCE, in_plain), (WithStatus::RESOURCE, in_with_status)] {
                let mut facts = DocumentFacts::default();
                facts.add_pruned(kind, &pruned);
                assert_eq!(facts.has_pruned_fields, expected, "{} {document}", kind.kind);
            }
        }
    }
}
