//! What became of a pod.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use crate::core::v1::{
    ContainerStatus, NodeAllocatableResourceClaimStatus, PodExtendedResourceClaimStatus, PodResourceClaimStatus,
    ResourceList, ResourceRequirements,
};

/// Pod status.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodStatus {
    /// The observed generation.
    #[field(proto = 17)]
    pub observed_generation: i64,
    /// The phase.
    #[field(proto = 1)]
    pub phase: String,
    /// The conditions.
    #[field(proto = 2, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<PodCondition>,
    /// The message.
    #[field(proto = 3)]
    pub message: String,
    /// The reason.
    #[field(proto = 4)]
    pub reason: String,
    /// The nominated node name.
    #[field(proto = 11)]
    pub nominated_node_name: String,
    /// The host ip.
    #[field(name = "hostIP", proto = 5)]
    pub host_ip: String,
    /// The host ips.
    #[field(name = "hostIPs", proto = 16, list_type = atomic, patch_strategy(merge), patch_merge_key = "ip")]
    pub host_ips: Vec<HostIP>,
    /// The pod ip.
    #[field(name = "podIP", proto = 6)]
    pub pod_ip: String,
    /// The pod ips.
    #[field(name = "podIPs", proto = 12, list_type = map, list_map_keys("ip"), patch_strategy(merge), patch_merge_key = "ip")]
    pub pod_ips: Vec<PodIP>,
    /// The start time.
    #[field(proto = 7)]
    pub start_time: Option<Time>,
    /// The init container statuses.
    #[field(proto = 10, list_type = atomic)]
    pub init_container_statuses: Vec<ContainerStatus>,
    /// The container statuses.
    #[field(proto = 8, list_type = atomic)]
    pub container_statuses: Vec<ContainerStatus>,
    /// The qos class.
    #[field(proto = 9)]
    pub qos_class: String,
    /// The ephemeral container statuses.
    #[field(proto = 13, list_type = atomic)]
    pub ephemeral_container_statuses: Vec<ContainerStatus>,
    /// The resize.
    #[field(proto = 14)]
    pub resize: String,
    /// The resource claim statuses.
    #[field(proto = 15, list_type = map, list_map_keys("name"), patch_strategy(merge, retain_keys), patch_merge_key = "name")]
    pub resource_claim_statuses: Vec<PodResourceClaimStatus>,
    /// The extended resource claim status.
    #[field(proto = 18)]
    pub extended_resource_claim_status: Option<PodExtendedResourceClaimStatus>,
    /// The allocated resources.
    #[field(proto = 19)]
    pub allocated_resources: ResourceList,
    /// The resources.
    #[field(proto = 20)]
    pub resources: Option<ResourceRequirements>,
    /// The node allocatable resource claim statuses.
    #[field(proto = 21, list_type = atomic)]
    pub node_allocatable_resource_claim_statuses: Vec<NodeAllocatableResourceClaimStatus>,
}

/// Pod condition.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodCondition {
    /// The type.
    #[field(proto = 1, keep)]
    pub type_: String,
    /// The observed generation.
    #[field(proto = 7)]
    pub observed_generation: i64,
    /// The status.
    #[field(proto = 2, keep)]
    pub status: String,
    /// The last probe time.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// The last transition time.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// The reason.
    #[field(proto = 5)]
    pub reason: String,
    /// The message.
    #[field(proto = 6)]
    pub message: String,
}

/// Host ip.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct HostIP {
    /// The ip.
    #[field(proto = 1, keep)]
    pub ip: String,
}

/// Pod ip.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PodIP {
    /// The ip.
    #[field(proto = 1, keep)]
    pub ip: String,
}
