//! What a claim asks for.

use planesmith_machinery::Struct;
use planesmith_machinery::meta::LabelSelector;

use crate::core::v1::{ResourceList, TypedLocalObjectReference, TypedObjectReference};

/// Persistent volume claim spec.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct PersistentVolumeClaimSpec {
    /// The access modes.
    #[field(proto = 1, list_type = atomic)]
    pub access_modes: Vec<String>,
    /// The selector.
    #[field(proto = 4)]
    pub selector: Option<LabelSelector>,
    /// The resources.
    #[field(proto = 2)]
    pub resources: VolumeResourceRequirements,
    /// The volume name.
    #[field(proto = 3)]
    pub volume_name: String,
    /// The storage class name.
    #[field(proto = 5)]
    pub storage_class_name: Option<String>,
    /// The volume mode.
    #[field(proto = 6)]
    pub volume_mode: Option<String>,
    /// The data source.
    #[field(proto = 7)]
    pub data_source: Option<TypedLocalObjectReference>,
    /// The data source ref.
    #[field(proto = 8)]
    pub data_source_ref: Option<TypedObjectReference>,
    /// The volume attributes class name.
    #[field(proto = 9)]
    pub volume_attributes_class_name: Option<String>,
}

/// Volume resource requirements.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct VolumeResourceRequirements {
    /// The limits.
    #[field(proto = 1)]
    pub limits: ResourceList,
    /// The requests.
    #[field(proto = 2)]
    pub requests: ResourceList,
}
