//! Volumes that a driver provides.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

use crate::core::v1::LocalObjectReference;

/// Flex volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct FlexVolumeSource {
    /// The driver.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// The fs type.
    #[field(proto = 2)]
    pub fs_type: String,
    /// The secret ref.
    #[field(proto = 3)]
    pub secret_ref: Option<LocalObjectReference>,
    /// The read only.
    #[field(proto = 4)]
    pub read_only: bool,
    /// The options.
    #[field(proto = 5)]
    pub options: BTreeMap<String, String>,
}

/// Csivolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIVolumeSource {
    /// The driver.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// The read only.
    #[field(proto = 2)]
    pub read_only: Option<bool>,
    /// The fs type.
    #[field(proto = 3)]
    pub fs_type: Option<String>,
    /// The volume attributes.
    #[field(proto = 4)]
    pub volume_attributes: BTreeMap<String, String>,
    /// The node publish secret ref.
    #[field(proto = 5)]
    pub node_publish_secret_ref: Option<LocalObjectReference>,
}
