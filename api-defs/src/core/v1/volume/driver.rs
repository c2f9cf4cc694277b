//! Volumes of drivers.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// A volume of a FlexVolume driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlexVolumeSource {
    /// Name of the driver on the node.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Filesystem of the volume. The default of the driver when empty.
    #[field(proto = 2)]
    pub fs_type: String,
    /// Secret that is passed to the driver.
    #[field(proto = 3)]
    pub secret_ref: Option<LocalObjectReference>,
    /// True if mounts are read-only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// Further options for the driver.
    #[field(proto = 5)]
    pub options: BTreeMap<String, String>,
}

/// A volume that a CSI driver provides for the lifetime of a pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIVolumeSource {
    /// Name of the CSI driver, which must be registered in the cluster.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// True if mounts are read-only. False by default.
    #[field(proto = 2)]
    pub read_only: Option<bool>,
    /// Filesystem of the volume. The default of the driver when absent.
    #[field(proto = 3)]
    pub fs_type: Option<String>,
    /// Attributes that are passed to the driver.
    #[field(proto = 4)]
    pub volume_attributes: BTreeMap<String, String>,
    /// Secret that is passed to the driver when it mounts the volume.
    #[field(proto = 5)]
    pub node_publish_secret_ref: Option<LocalObjectReference>,
}
