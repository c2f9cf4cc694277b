//! Selectors of parts of a topology.

use planesmith_machinery::Struct;

/// A selector of topology parts. All requirements must be fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TopologySelectorTerm {
    /// Requirements on labels of the topology part, all of which must hold.
    #[field(proto = 1, list_type = atomic)]
    pub match_label_expressions: Vec<TopologySelectorLabelRequirement>,
}

/// A requirement on a label of nodes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologySelectorLabelRequirement {
    /// Key of the label, such as topology.kubernetes.io/zone.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Values, one of which the label must have.
    #[field(proto = 2, keep, list_type = atomic)]
    pub values: Vec<String>,
}
