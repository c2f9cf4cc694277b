//! Affinity and anti-affinity of pods.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::{NodeSelector, NodeSelectorTerm};

/// Affinity and anti-affinity of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Affinity {
    /// Rules about the nodes of the pod.
    #[field(proto = 1)]
    pub node_affinity: Option<NodeAffinity>,
    /// Rules that place the pod near other pods.
    #[field(proto = 2)]
    pub pod_affinity: Option<PodAffinity>,
    /// Rules that place the pod away from other pods.
    #[field(proto = 3)]
    pub pod_anti_affinity: Option<PodAntiAffinity>,
}

/// Required and preferred nodes of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAffinity {
    /// Required nodes. Pods are never scheduled to other nodes. A pod stays on a node that stops matching.
    #[field(proto = 1)]
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
    /// Preferred nodes. The scheduler adds up the weights of all preferences that a node matches and prefers the
    /// highest sum.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredSchedulingTerm>,
}

/// A preference for nodes and its weight.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PreferredSchedulingTerm {
    /// Weight of the preference, 1 to 100.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// Selector of the preferred nodes.
    #[field(proto = 2, keep)]
    pub preference: NodeSelectorTerm,
}

/// Required and preferred proximity of a pod to other pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinity {
    /// Terms that must all hold when the pod is scheduled. The pod stays if they stop holding.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// Preferred terms. The scheduler adds up the weights of all terms that hold and prefers the highest sum.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}

/// A set of other pods and the topology in which their distance is measured.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinityTerm {
    /// Labels of the other pods. No pods when absent.
    #[field(proto = 1)]
    pub label_selector: Option<LabelSelector>,
    /// Namespaces of the other pods, in addition to those that namespaceSelector matches. The pod's own namespace when
    /// this is empty and namespaceSelector is absent.
    #[field(proto = 2, list_type = atomic)]
    pub namespaces: Vec<String>,
    /// Node label that defines the topology: nodes with the same value belong together. Must not be empty.
    #[field(proto = 3, keep)]
    pub topology_key: String,
    /// Labels of the other pods' namespaces; all namespaces when empty.
    #[field(proto = 4)]
    pub namespace_selector: Option<LabelSelector>,
    /// Keys of labels that the other pods must have with the same value as this pod. Merged into labelSelector on
    /// creation.
    #[field(proto = 5, list_type = atomic)]
    pub match_label_keys: Vec<String>,
    /// Keys of labels that the other pods must not have with the same value as this pod. Merged into labelSelector on
    /// creation.
    #[field(proto = 6, list_type = atomic)]
    pub mismatch_label_keys: Vec<String>,
}

/// A term about other pods and its weight.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WeightedPodAffinityTerm {
    /// Weight of the term, 1 to 100.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// The other pods and the topology.
    #[field(proto = 2, keep)]
    pub pod_affinity_term: PodAffinityTerm,
}

/// Required and preferred distance of a pod from other pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAntiAffinity {
    /// Terms none of which may hold when the pod is scheduled. The pod stays if one starts holding.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// Terms to avoid. The scheduler adds up the weights of all terms that hold and prefers the lowest sum.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}
