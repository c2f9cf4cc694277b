//! Observed state of claims.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use crate::core::v1::ResourceList;

/// Observed state of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimStatus {
    /// Phase: Pending, Bound, or Lost if the bound volume no longer exists.
    #[field(proto = 1, known("Pending", "Bound", "Lost"), go_type = "PersistentVolumeClaimPhase")]
    pub phase: String,
    /// Access modes of the volume.
    #[field(proto = 2, list_type = atomic, known("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), go_type = "[]PersistentVolumeAccessMode")]
    pub access_modes: Vec<String>,
    /// Capacity of the volume.
    #[field(proto = 3, go_type = "ResourceList")]
    pub capacity: ResourceList,
    /// Operations on the volume that are in progress, such as Resizing.
    #[field(proto = 4, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<PersistentVolumeClaimCondition>,
    /// Amount of storage reserved for the claim during a resize. Quotas count the larger of this and the request.
    #[field(proto = 5, go_type = "ResourceList")]
    pub allocated_resources: ResourceList,
    /// State of a resize, by resource.
    #[field(
        proto = 7,
        granular,
        known(
            "ControllerResizeInProgress",
            "ControllerResizeInfeasible",
            "NodeResizePending",
            "NodeResizeInProgress",
            "NodeResizeInfeasible"
        ),
        go_type = "map[v1.ResourceName]ClaimResourceStatus"
    )]
    pub allocated_resource_statuses: BTreeMap<String, String>,
    /// VolumeAttributesClass that is in effect.
    #[field(proto = 8)]
    pub current_volume_attributes_class_name: Option<String>,
    /// State of a change of the VolumeAttributesClass. Absent when no change is in progress.
    #[field(proto = 9)]
    pub modify_volume_status: Option<ModifyVolumeStatus>,
}

/// An operation on the volume of a claim that is in progress.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimCondition {
    /// Type of the condition, such as Resizing or FileSystemResizePending.
    #[field(proto = 1, keep, go_type = "PersistentVolumeClaimConditionType")]
    pub type_: String,
    /// Status of the condition: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// Time of the last probe.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// Time of the last change of status.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// Short CamelCase reason of the last transition.
    #[field(proto = 5)]
    pub reason: String,
    /// Human-readable explanation of the last transition. Its text may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

/// State of a change of a volume's VolumeAttributesClass.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ModifyVolumeStatus {
    /// VolumeAttributesClass that the volume is changed to.
    #[field(proto = 1)]
    pub target_volume_attributes_class_name: String,
    /// State of the change: Pending while the class does not exist, InProgress, or Infeasible if the driver refused it.
    #[field(
        proto = 2,
        keep,
        known("Pending", "InProgress", "Infeasible"),
        go_type = "PersistentVolumeClaimModifyVolumeStatus"
    )]
    pub status: String,
}
