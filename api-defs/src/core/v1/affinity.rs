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
    /// Nodes outside of this choice are never used. A node that leaves the choice later keeps the pod.
    #[field(proto = 1)]
    pub required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
    /// Nodes that are preferred: the weights of all choices that a node fits are added up, and the highest sum wins.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<PreferredSchedulingTerm>,
}

/// A choice of nodes with the weight it has.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PreferredSchedulingTerm {
    /// Weight of the preference, 1 to 100.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// The nodes that the weight is added to.
    #[field(proto = 2, keep)]
    pub preference: NodeSelectorTerm,
}

/// Required and preferred proximity of a pod to other pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinity {
    /// All of these must hold when the pod is placed. The pod stays when they hold no longer.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// Places that are preferred: the weights of all terms that hold there are added up, and the highest sum wins.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}

/// Other pods, and what counts as the same place.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAffinityTerm {
    /// The labels of the pods that are meant. No pod is meant when absent.
    #[field(proto = 1)]
    pub label_selector: Option<LabelSelector>,
    /// Namespaces of those pods, in addition to the chosen ones. The pod's own when this is empty and namespaceSelector
    /// is absent.
    #[field(proto = 2, list_type = atomic)]
    pub namespaces: Vec<String>,
    /// Label of nodes: nodes with the same value are one place. Must not be empty.
    #[field(proto = 3, keep)]
    pub topology_key: String,
    /// The labels of the namespaces of those pods; empty means all namespaces.
    #[field(proto = 4)]
    pub namespace_selector: Option<LabelSelector>,
    /// Labels in which those pods must agree with this one. Written into labelSelector when the pod is made.
    #[field(proto = 5, list_type = atomic)]
    pub match_label_keys: Vec<String>,
    /// Labels in which those pods must differ from this one. Written into labelSelector when the pod is made.
    #[field(proto = 6, list_type = atomic)]
    pub mismatch_label_keys: Vec<String>,
}

/// Other pods with the weight of being near to them or away from them.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct WeightedPodAffinityTerm {
    /// Weight of the term, 1 to 100.
    #[field(proto = 1, keep)]
    pub weight: i32,
    /// The pods and the place.
    #[field(proto = 2, keep)]
    pub pod_affinity_term: PodAffinityTerm,
}

/// Required and preferred distance of a pod from other pods.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodAntiAffinity {
    /// None of these may hold when the pod is placed. The pod stays when one of them holds later.
    #[field(proto = 1, list_type = atomic)]
    pub required_during_scheduling_ignored_during_execution: Vec<PodAffinityTerm>,
    /// Places that are avoided: the weights of all terms that hold there are added up, and the lowest sum wins.
    #[field(proto = 2, list_type = atomic)]
    pub preferred_during_scheduling_ignored_during_execution: Vec<WeightedPodAffinityTerm>,
}
