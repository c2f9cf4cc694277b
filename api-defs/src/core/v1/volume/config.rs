//! Volumes filled from objects of the API.

use planesmith_machinery::Struct;

use crate::core::v1::{LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector};

/// Secret volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretVolumeSource {
    /// The secret name.
    #[field(proto = 1)]
    pub secret_name: String,
    /// The items.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// The default mode.
    #[field(proto = 3)]
    pub default_mode: Option<i32>,
    /// The optional.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// Config map volume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapVolumeSource {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The items.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// The default mode.
    #[field(proto = 3)]
    pub default_mode: Option<i32>,
    /// The optional.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// Key to path.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct KeyToPath {
    /// The key.
    #[field(proto = 1, keep)]
    pub key: String,
    /// The path.
    #[field(proto = 2, keep)]
    pub path: String,
    /// The mode.
    #[field(proto = 3)]
    pub mode: Option<i32>,
}

/// Downward apivolume source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeSource {
    /// The items.
    #[field(proto = 1, list_type = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
    /// The default mode.
    #[field(proto = 2)]
    pub default_mode: Option<i32>,
}

/// Downward apivolume file.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeFile {
    /// The path.
    #[field(proto = 1, keep)]
    pub path: String,
    /// The field ref.
    #[field(proto = 2)]
    pub field_ref: Option<ObjectFieldSelector>,
    /// The resource field ref.
    #[field(proto = 3)]
    pub resource_field_ref: Option<ResourceFieldSelector>,
    /// The mode.
    #[field(proto = 4)]
    pub mode: Option<i32>,
}
