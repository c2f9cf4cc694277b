//! Volumes that are filled from API objects.

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
    /// Default mode of the files, 0644 by default. JSON requires decimal numbers: 420.
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
    /// Default mode of the files, 0644 by default. JSON requires decimal numbers: 420.
    #[field(proto = 3)]
    pub default_mode: Option<i32>,
    /// True if the pod can start without the config map or a key.
    #[field(proto = 4)]
    pub optional: Option<bool>,
}

/// A key that becomes a file.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct KeyToPath {
    /// Key whose value becomes a file.
    #[field(proto = 1, keep)]
    pub key: String,
    /// Relative path of the file in the volume. Must not contain `..`.
    #[field(proto = 2, keep)]
    pub path: String,
    /// Mode of the file. That of the volume when absent.
    #[field(proto = 3)]
    pub mode: Option<i32>,
}

/// Fields of the pod, as files.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeSource {
    /// Files with the pod fields that they contain.
    #[field(proto = 1, list_type = atomic)]
    pub items: Vec<DownwardAPIVolumeFile>,
    /// Default mode of the files, 0644 by default. JSON requires decimal numbers: 420.
    #[field(proto = 2)]
    pub default_mode: Option<i32>,
}

/// A file that contains a field of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DownwardAPIVolumeFile {
    /// Relative path of the file in the volume. Must not contain `..`.
    #[field(proto = 1, keep)]
    pub path: String,
    /// Field of the pod: name, namespace, uid, labels or annotations.
    #[field(proto = 2)]
    pub field_ref: Option<ObjectFieldSelector>,
    /// A resource request or limit of a container.
    #[field(proto = 3)]
    pub resource_field_ref: Option<ResourceFieldSelector>,
    /// Mode of the file. That of the volume when absent.
    #[field(proto = 4)]
    pub mode: Option<i32>,
}
