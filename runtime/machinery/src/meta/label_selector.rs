//! A label selector in an object.

use std::collections::BTreeMap;

use crate::Struct;

/// A label selector; an object matches if it meets all requirements. An empty selector matches every object, an absent
/// one matches none.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct LabelSelector {
    /// Required values by label key.
    #[field(proto = 1)]
    pub match_labels: BTreeMap<String, String>,
    /// Requirements on labels, all of which must hold.
    #[field(proto = 2, list_type = atomic)]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// A requirement on one label.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct LabelSelectorRequirement {
    /// Key of the label.
    #[field(keep, required, proto = 1)]
    pub key: String,
    /// Operator between the label and the values: `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[field(keep, required, proto = 2, go_type = "LabelSelectorOperator")]
    pub operator: String,
    /// The values: at least one for `In` and `NotIn`, none for the others.
    #[field(proto = 3, list_type = atomic)]
    pub values: Vec<String>,
}
