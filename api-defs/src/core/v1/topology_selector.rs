//! Selectors of parts of a topology.

use planesmith_machinery::Struct;

/// Nodes in given parts of a topology: those that fulfil all requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TopologySelectorTerm {
    /// Requirements on labels of the place, all of which have to be met.
    #[field(proto = 1, list_type = atomic)]
    pub match_label_expressions: Vec<TopologySelectorLabelRequirement>,
}

/// A requirement on a label of nodes.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologySelectorLabelRequirement {
    /// The label that is looked at, such as topology.kubernetes.io/zone.
    #[field(proto = 1, keep)]
    pub key: String,
    /// The values, one of which the label must have.
    #[field(proto = 2, keep, list_type = atomic)]
    pub values: Vec<String>,
}
