//! Volumes filled from objects of the API.

use planesmith_machinery::Struct;

use crate::core::v1::{LocalObjectReference, ObjectFieldSelector, ResourceFieldSelector};

/// The keys of a secret, as files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretVolumeSource {
    /// Name of the secret in the pod's namespace.
    #[field(proto = 1)]
    pub secret_name: String,
    /// Keys that become files, and the paths of the files. When empty, all keys become files under their own names.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// Permissions of the files, 0644 by default. Decimal in JSON: 420.
    #[field(proto = 3)]
    pub default_mode: Option<i32>,
    /// True if the pod can start without the secret or a key.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// The keys of a config map, as files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapVolumeSource {
    /// The config map in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// Keys that become files, and the paths of the files. When empty, all keys become files under their own names.
    #[field(proto = 2, list_type = atomic)]
    pub items: Vec<KeyToPath>,
    /// Permissions of the files, 0644 by default. Decimal in JSON: 420.
    #[field(proto = 3)]
    pub default_mode: Option<i32>,
    /// True if the pod can start without the config map or a key.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// A key that becomes a file.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct KeyToPath {
    /// The key whose value becomes a file.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Path of the file in the volume; relative, without .. in it.
    #[field(proto = 2, keep)]
    pub path: String,
    /// Permissions of the file; those of the volume when absent.
    #[field(proto = 3)]
    pub mode: Option<i32>,
}

/// Fields of the pod, as files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeSource {
    /// The files, each with the part of the pod that stands in it.
    #[field(proto = 1, list_type = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
    /// Permissions of the files, 0644 by default. Decimal in JSON: 420.
    #[field(proto = 2)]
    pub default_mode: Option<i32>,
}

/// A file with a field of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeFile {
    /// Path of the file in the volume; relative, without .. in it.
    #[field(proto = 1, keep)]
    pub path: String,
    /// The field: name, namespace, uid, labels or annotations.
    #[field(proto = 2)]
    pub field_ref: Option<ObjectFieldSelector>,
    /// A request or limit of a container.
    #[field(proto = 3)]
    pub resource_field_ref: Option<ResourceFieldSelector>,
    /// Permissions of the file; those of the volume when absent.
    #[field(proto = 4)]
    pub mode: Option<i32>,
}
