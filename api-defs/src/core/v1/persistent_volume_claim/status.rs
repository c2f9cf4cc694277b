//! What a claim got.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::time::Time;

use crate::core::v1::ResourceList;

/// What storage a claim got.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimStatus {
    /// Pending, Bound, or Lost when the volume that it was bound to is gone.
    #[field(proto = 1, known("Pending", "Bound", "Lost"), go_type = "PersistentVolumeClaimPhase")]
    pub phase: String,
    /// How the volume can be mounted.
    #[field(proto = 2, list_type = atomic, known("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"), go_type = "[]PersistentVolumeAccessMode")]
    pub access_modes: Vec<String>,
    /// How much the volume holds.
    #[field(proto = 3, go_type = "ResourceList")]
    pub capacity: ResourceList,
    /// What is being done with the volume, such as Resizing.
    #[field(proto = 4, list_type = map, list_map_keys("type"), patch_strategy(merge), patch_merge_key = "type")]
    pub conditions: Vec<PersistentVolumeClaimCondition>,
    /// How much is set aside for the claim while it grows; quotas count the larger of this and the request.
    #[field(proto = 5, go_type = "ResourceList")]
    pub allocated_resources: ResourceList,
    /// How far growing is, by resource.
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
    /// The VolumeAttributesClass whose settings the volume has now.
    #[field(proto = 8)]
    pub current_volume_attributes_class_name: Option<String>,
    /// How far changing the settings is; absent when nothing is being changed.
    #[field(proto = 9)]
    pub modify_volume_status: Option<ModifyVolumeStatus>,
}

/// Something that is being done with the volume of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimCondition {
    /// What it is, such as Resizing or FileSystemResizePending.
    #[field(proto = 1, keep, go_type = "PersistentVolumeClaimConditionType")]
    pub type_: String,
    /// Whether it holds: True, False or Unknown.
    #[field(proto = 2, keep, go_type = "ConditionStatus")]
    pub status: String,
    /// When it was last looked at.
    #[field(proto = 3)]
    pub last_probe_time: Time,
    /// When the status last changed.
    #[field(proto = 4)]
    pub last_transition_time: Time,
    /// Why it last changed, in one word for programs.
    #[field(proto = 5)]
    pub reason: String,
    /// Explanation of the last change for people to read; its wording may differ between releases.
    #[field(proto = 6)]
    pub message: String,
}

/// How far changing the settings of a volume is.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ModifyVolumeStatus {
    /// The VolumeAttributesClass whose settings the volume is to have.
    #[field(proto = 1)]
    pub target_volume_attributes_class_name: String,
    /// Pending when the class does not exist yet, InProgress, or Infeasible when the driver refused.
    #[field(
        proto = 2,
        keep,
        known("Pending", "InProgress", "Infeasible"),
        go_type = "PersistentVolumeClaimModifyVolumeStatus"
    )]
    pub status: String,
}
