//! Observed state of pods.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use crate::core::v1::{
    ContainerStatus, NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus, PodResourceClaimStatus,
    ResourceList, ResourceRequirements,
};

/// Observed state of a pod. May be outdated when the node cannot be reached.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodStatus {
    /// Generation of the pod that the status describes.
    #[field(proto = 17)]
    pub observed_generation: i64,
    /// Phase of the pod: Pending, Running, Succeeded, Failed or Unknown.
    #[field(
        proto = 1,
        known("Pending", "Running", "Succeeded", "Failed", "Unknown"),
        go_type = "PodPhase"
    )]
    pub phase: String,
    /// Conditions, such as PodScheduled, Initialized and Ready.
    #[field(proto = 2, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<PodCondition>,
    /// Human-readable explanation of the phase.
    #[field(proto = 3)]
    pub message: String,
    /// CamelCase reason of the phase, for programs, such as Evicted.
    #[field(proto = 4)]
    pub reason: String,
    /// Name of the node on which pods with lower priority are preempted for this one. The pod may still be scheduled
    /// elsewhere.
    #[field(proto = 11)]
    pub nominated_node_name: String,
    /// Address of the node. Empty until the pod is scheduled.
    #[field(name = "hostIP", proto = 5)]
    pub host_ip: String,
    /// Addresses of the node, the first of which is hostIP.
    #[field(name = "hostIPs", proto = 16, list_type = atomic, patch_strategy(merge), patch_merge_key = "ip")]
    pub host_ips: Vec<HostIP>,
    /// Address of the pod. Empty until it is assigned.
    #[field(name = "podIP", proto = 6)]
    pub pod_ip: String,
    /// Addresses of the pod, at most one per IP family; the first is podIP.
    #[field(name = "podIPs", proto = 12, list_type = map, list_map_keys("ip"), patch_strategy(merge), patch_merge_key = "ip")]
    pub pod_ips: Vec<PodIP>,
    /// Time when the kubelet accepted the pod, before it pulled images.
    #[field(proto = 7)]
    pub start_time: Option<Time>,
    /// Observed state of the init containers.
    #[field(proto = 10, list_type = atomic)]
    pub init_container_statuses: Vec<ContainerStatus>,
    /// Observed state of the main containers.
    #[field(proto = 8, list_type = atomic)]
    pub container_statuses: Vec<ContainerStatus>,
    /// Quality of service class: Guaranteed, Burstable or BestEffort. Derived from the spec on creation.
    #[field(proto = 9, known("Guaranteed", "Burstable", "BestEffort"), go_type = "PodQOSClass")]
    pub qos_class: String,
    /// Observed state of the ephemeral containers.
    #[field(proto = 13, list_type = atomic)]
    pub ephemeral_container_statuses: Vec<ContainerStatus>,
    /// State of a resize. Deprecated: replaced by the conditions PodResizePending and PodResizeInProgress.
    #[field(proto = 14, go_type = "PodResizeStatus")]
    pub resize: String,
    /// Observed state of the device claims.
    #[field(proto = 15, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claim_statuses: Vec<PodResourceClaimStatus>,
    /// Status of the claim for extended resources.
    #[field(proto = 18)]
    pub extended_resource_claim_status: Option<PodExtendedResourceClaimStatus>,
    /// Resources that the node has allocated to the whole pod.
    #[field(proto = 19, go_type = "ResourceList")]
    pub allocated_resources: ResourceList,
    /// Resource requests and limits of the whole pod that are in effect.
    #[field(proto = 20)]
    pub resources: Option<ResourceRequirements>,
    /// Consumption of the node's allocatable resources by the devices of claims.
    #[field(proto = 21, list_type = atomic)]
    pub node_allocatable_resource_claim_statuses: Vec<NodeAllocatableResourceClaimStatus>,
}

/// A condition of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCondition {
    /// Type of the condition: PodScheduled, Initialized, ContainersReady, Ready, or a custom type.
    #[field(proto = 1, keep, go_type = "PodConditionType")]
    pub type_: String,
    /// Generation of the pod that the condition describes.
    #[field(proto = 7)]
    pub observed_generation: i64,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last probe of the condition.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 5)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

/// An address of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostIP {
    /// Address of the pod's node.
    #[field(proto = 1, keep)]
    pub ip: String,
}

/// An address of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodIP {
    /// Address of the pod, at most one for each IP family.
    #[field(proto = 1, keep)]
    pub ip: String,
}
