//! Which parts of a topology are meant.

use planesmith_machinery::Struct;

/// Topology selector term.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct TopologySelectorTerm {
    /// The match label expressions.
    #[field(proto = 1, list_type = atomic)]
    pub match_label_expressions: Vec<TopologySelectorLabelRequirement>,
}

/// Topology selector label requirement.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologySelectorLabelRequirement {
    /// The key.
    #[field(proto = 1, keep)]
    pub key: String,
    /// The values.
    #[field(proto = 2, keep, list_type = atomic)]
    pub values: Vec<String>,
}
