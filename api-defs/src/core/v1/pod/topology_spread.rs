//! How pods spread over zones and nodes.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

/// Topology spread constraint.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TopologySpreadConstraint {
    /// The max skew.
    #[field(proto = 1, keep)]
    pub max_skew: i32,
    /// The topology key.
    #[field(proto = 2, keep)]
    pub topology_key: String,
    /// The when unsatisfiable.
    #[field(proto = 3, keep)]
    pub when_unsatisfiable: String,
    /// The label selector.
    #[field(proto = 4)]
    pub label_selector: Option<LabelSelector>,
    /// The min domains.
    #[field(proto = 5)]
    pub min_domains: Option<i32>,
    /// The node affinity policy.
    #[field(proto = 6)]
    pub node_affinity_policy: Option<String>,
    /// The node taints policy.
    #[field(proto = 7)]
    pub node_taints_policy: Option<String>,
    /// The match label keys.
    #[field(proto = 8, list_type = atomic)]
    pub match_label_keys: Vec<String>,
}
