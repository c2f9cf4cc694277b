//! Which nodes are meant.

use planesmith_machinery::Struct;

/// Node selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NodeSelector {
    /// The node selector terms.
    #[field(proto = 1, keep, list_type = atomic)]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Node selector term.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct NodeSelectorTerm {
    /// The match expressions.
    #[field(proto = 1, list_type = atomic)]
    pub match_expressions: Vec<NodeSelectorRequirement>,
    /// The match fields.
    #[field(proto = 2, list_type = atomic)]
    pub match_fields: Vec<NodeSelectorRequirement>,
}

/// Node selector requirement.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeSelectorRequirement {
    /// The key.
    #[field(proto = 1, keep)]
    pub key: String,
    /// The operator.
    #[field(proto = 2, keep)]
    pub operator: String,
    /// The values.
    #[field(proto = 3, list_type = atomic)]
    pub values: Vec<String>,
}
