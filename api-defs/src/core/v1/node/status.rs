//! Observed state of nodes.

use std::collections::BTreeSet;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::{FieldErrors, Json, go_object};
use planesmith_machinery::time::Time;

use super::{NodeConfigStatus, NodeSystemInfo};
use crate::core::v1::ResourceList;
use crate::core::v1::resource_list::check_amount;

/// Capacity, health and addresses of a node, reported by its kubelet.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeStatus {
    /// Total resources of the machine.
    #[field(proto = 1, go_type = "ResourceList")]
    pub capacity: ResourceList,
    /// Resources available to pods. Defaults to the capacity.
    #[field(proto = 2, go_type = "ResourceList")]
    pub allocatable: ResourceList,
    /// No longer used. See conditions.
    #[field(proto = 3, known("Pending", "Running", "Terminated"), go_type = "NodePhase")]
    pub phase: String,
    /// Conditions of the node, such as Ready.
    #[field(proto = 4, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<NodeCondition>,
    /// Addresses of the node. Several may have the same type, so replace the whole list instead of merging into it.
    #[field(proto = 5, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub addresses: Vec<NodeAddress>,
    /// Ports of the node's daemons.
    #[field(proto = 6)]
    pub daemon_endpoints: NodeDaemonEndpoints,
    /// Software and hardware of the node.
    #[field(proto = 7)]
    pub node_info: NodeSystemInfo,
    /// The largest container images on the node.
    #[field(proto = 8, list_type = atomic)]
    pub images: Vec<ContainerImage>,
    /// Attachable volumes in use on the node.
    #[field(proto = 9, list_type = atomic, go_type = "[]UniqueVolumeName")]
    pub volumes_in_use: Vec<String>,
    /// Volumes attached to the node.
    #[field(proto = 10, list_type = atomic)]
    pub volumes_attached: Vec<AttachedVolume>,
    /// Has no effect: kubelets no longer read their configuration from the API.
    #[field(proto = 11)]
    pub config: Option<NodeConfigStatus>,
    /// Runtime handlers that pods can select with a RuntimeClass.
    #[field(proto = 12, list_type = atomic)]
    pub runtime_handlers: Vec<NodeRuntimeHandler>,
    /// Features of the container runtime.
    #[field(proto = 13)]
    pub features: Option<NodeFeatures>,
    /// Features of the kubelet that pods may depend on, sorted.
    #[field(proto = 14, list_type = atomic)]
    pub declared_features: Vec<String>,
}

/// A condition of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeCondition {
    /// Type of the condition, such as Ready or MemoryPressure.
    #[field(name = "type", proto = 1, keep, go_type = "NodeConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the kubelet's last report.
    #[field(proto = 3)]
    pub last_heartbeat_time: Time,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// CamelCase reason of the last transition, for programs.
    #[field(proto = 5)]
    pub reason: String,
    /// Human-readable explanation of the state.
    #[field(proto = 6)]
    pub message: String,
}

/// An address of a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeAddress {
    /// Type of the address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS.
    #[field(name = "type", proto = 1, keep, go_type = "NodeAddressType")]
    pub type_: String,
    /// The address.
    #[field(proto = 2, keep)]
    pub address: String,
}

/// Ports of a node's daemons.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeDaemonEndpoints {
    /// Endpoint of the kubelet.
    #[field(proto = 1)]
    pub kubelet_endpoint: DaemonEndpoint,
}

/// Endpoint of a daemon.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DaemonEndpoint {
    /// Port of the daemon.
    #[field(name = "Port", proto = 1, keep)]
    pub port: i32,
}

/// A container image on a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ContainerImage {
    /// Names of the image, such as registry.example/app:v1.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub names: Vec<String>,
    /// Size of the image in bytes.
    #[field(proto = 2)]
    pub size_bytes: i64,
}

/// A volume that is attached to a node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct AttachedVolume {
    /// Name of the volume, unique in the cluster.
    #[field(proto = 1, keep, go_type = "UniqueVolumeName")]
    pub name: String,
    /// Path of the device on the node.
    #[field(proto = 2, keep)]
    pub device_path: String,
}

/// A handler of the container runtime.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeRuntimeHandler {
    /// Name of the handler, which a RuntimeClass refers to. Empty for the default handler.
    #[field(proto = 1, keep, optional)]
    pub name: String,
    /// Features of the runtime handler.
    #[field(proto = 2)]
    pub features: Option<NodeRuntimeHandlerFeatures>,
}

/// Features of a runtime handler.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeRuntimeHandlerFeatures {
    /// True if recursive read-only mounts are supported.
    #[field(proto = 1)]
    pub recursive_read_only_mounts: Option<bool>,
    /// True if user namespaces are supported.
    #[field(proto = 2)]
    pub user_namespaces: Option<bool>,
}

/// Features of a container runtime.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct NodeFeatures {
    /// True if the supplementalGroupsPolicy of pods is supported.
    #[field(proto = 1)]
    pub supplemental_groups_policy: Option<bool>,
}

impl NodeStatus {
    /// Reports illegal quantities.
    pub(super) fn check_amounts(&self, errors: &mut FieldErrors) {
        for (list, amounts) in [("capacity", &self.capacity), ("allocatable", &self.allocatable)] {
            for (resource, amount) in amounts {
                check_amount(errors, &format!("status.{list}.{resource}"), resource, amount);
            }
        }
    }

    /// Reports duplicate addresses.
    pub(super) fn check_addresses(&self, errors: &mut FieldErrors) {
        let mut seen = BTreeSet::new();
        for (index, address) in self.addresses.iter().enumerate() {
            if !seen.insert((&address.type_, &address.address)) {
                let shown = go_object([("Type", address.type_.as_str()), ("Address", address.address.as_str())]);
                errors.at_index("status.addresses", index).duplicate("", Json(&shown));
            }
        }
    }
}
