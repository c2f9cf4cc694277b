//! Fields that the document of a new object sets to empty.

use std::sync::Arc;

use bytes::Bytes;
use planesmith_machinery::facts::StructFacts;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_patch::fields::{self, Set};
use serde_json::Value;

use crate::representation::Representation;

/// Fields that the document of a new object sets to empty: the object does not distinguish them from absent ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emptied {
    /// Fields that the writer manages although they are empty.
    pub(super) managed: Set<'static>,
    /// All of them, for messages and for the strategy of the kind.
    pub(super) sent: SentEmpty,
}

impl Emptied {
    /// Those of a body or a patched document; `json` is empty for protobuf, which does not distinguish them either.
    pub(crate) fn by(representation: &dyn Representation, facts: &'static StructFacts, json: &Bytes) -> Self {
        match representation.keeps_empty() || json.is_empty() {
            true => Self::default(),
            false => Self {
                managed: fields::sent_empty(facts, json),
                sent: SentEmpty::new(facts, json),
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
                managed: Set::new(),
                sent: SentEmpty::of_tree(facts, document),
            },
        }
    }
}
