//! Volumes that a driver provides.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// A volume of a program on the node.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlexVolumeSource {
    /// Name of the program on the node that mounts the volume.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// File system of the volume; as the program says when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Secret that is handed to the program.
    #[field(proto = 3)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Further options for the program.
    #[field(proto = 5)]
    pub options: BTreeMap<String, String>,
}

/// A volume that a CSI driver makes for the life of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIVolumeSource {
    /// Name of the CSI driver that makes the volume; it has to be known in the cluster.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// True if mounts are read-only. False by default.
    #[field(proto = 2)]
    pub read_only: Option<bool>,
    /// File system of the volume; as the driver says when absent.
    #[field(proto = 3)]
    pub fs_type: Option<String>,
    /// Attributes that are passed to the driver.
    #[field(proto = 4)]
    pub volume_attributes: BTreeMap<String, String>,
    /// Secret that is handed to the driver when it mounts the volume.
    #[field(proto = 5)]
    pub node_publish_secret_ref: Option<LocalObjectReference>,
}
