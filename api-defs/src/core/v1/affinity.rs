//! Where pods are attracted to and repelled from.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::{NodeSelector, NodeSelectorTerm};

/// Affinity.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Affinity {
    /// The node affinity.
    #[field(proto = 1)]
    pub node_affinity: Option<NodeAffinity>,
    /// The pod affinity.
    #[field(proto = 2)]
    pub pod_affinity: Option<PodAffinity>,
    /// The pod anti affinity.
    #[field(proto = 3)]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
}

/// Node affinity.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAffinity {
    /// The required during scheduling ignored during execution.
    #[field(proto = 1)]
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
    /// The preferred during scheduling ignored during execution.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredSchedulingTerm>,
}

/// Preferred scheduling term.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PreferredSchedulingTerm {
    /// The weight.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// The preference.
    #[field(proto = 2, keep)]
    pub preference: NodeSelectorTerm,
}

/// Pod affinity.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinity {
    /// The required during scheduling ignored during execution.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// The preferred during scheduling ignored during execution.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}

/// Pod affinity term.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinityTerm {
    /// The label selector.
    #[field(proto = 1)]
    pub label_selector: Option<LabelSelector>,
    /// The namespaces.
    #[field(proto = 2, list_type = atomic)]
    pub namespaces: Vec<String>,
    /// The topology key.
    #[field(proto = 3, keep)]
    pub topology_key: String,
    /// The namespace selector.
    #[field(proto = 4)]
    pub namespace_selector: Option<LabelSelector>,
    /// The match label keys.
    #[field(proto = 5, list_type = atomic)]
    pub match_label_keys: Vec<String>,
    /// The mismatch label keys.
    #[field(proto = 6, list_type = atomic)]
    pub mismatch_label_keys: Vec<String>,
}

/// Weighted pod affinity term.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WeightedPodAffinityTerm {
    /// The weight.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// The pod affinity term.
    #[field(proto = 2, keep)]
    pub pod_affinity_term: PodAffinityTerm,
}

/// Pod anti affinity.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAntiAffinity {
    /// The required during scheduling ignored during execution.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// The preferred during scheduling ignored during execution.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}
