//! Environment variables of containers.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use crate::core::v1::LocalObjectReference;

pub(crate) use check::{FieldPaths, ResourceOf, check, check_sources};

/// An environment variable.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvVar {
    /// Name: printable ASCII without =.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Its value. $(NAME) stands for a variable before it, $$(NAME) for itself.
    #[field(proto = 2)]
    pub value: String,
    /// Source of the value if none is given.
    #[field(proto = 3)]
    pub value_from: Option<EnvVarSource>,
}

/// Source of a variable's value: exactly one of the members.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvVarSource {
    /// A field of the pod.
    #[field(proto = 1)]
    pub field_ref: Option<ObjectFieldSelector>,
    /// A request or limit of a container.
    #[field(proto = 2)]
    pub resource_field_ref: Option<ResourceFieldSelector>,
    /// A key of a config map.
    #[field(proto = 3)]
    pub config_map_key_ref: Option<ConfigMapKeySelector>,
    /// A key of a secret.
    #[field(proto = 4)]
    pub secret_key_ref: Option<SecretKeySelector>,
    /// A key of a file in a volume.
    #[field(proto = 5)]
    pub file_key_ref: Option<FileKeySelector>,
}

/// An object all of whose keys become variables.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvFromSource {
    /// Prefix of the variables' names, put before each key.
    #[field(proto = 1)]
    pub prefix: String,
    /// Takes each key of a config map as a variable.
    #[field(proto = 2)]
    pub config_map_ref: Option<ConfigMapEnvSource>,
    /// Takes each key of a secret as a variable.
    #[field(proto = 3)]
    pub secret_ref: Option<SecretEnvSource>,
}

/// A config map all of whose keys become variables.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapEnvSource {
    /// The config map in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// True if the container can start without the object.
    #[field(proto = 2)]
    pub optional: Option<bool>,
}

/// A secret all of whose keys become variables.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretEnvSource {
    /// The secret in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// True if the container can start without the object.
    #[field(proto = 2)]
    pub optional: Option<bool>,
}

/// A key of a config map.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ConfigMapKeySelector {
    /// The config map in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The key whose value is taken; it has to be valid as a key of a config map.
    #[field(proto = 2, keep)]
    pub key: String,
    /// True if the container can start without the config map or the key.
    #[field(proto = 3)]
    pub optional: Option<bool>,
}

/// A key of a secret.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct SecretKeySelector {
    /// The secret in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The key whose value is taken; it has to be valid as a key of a secret.
    #[field(proto = 2, keep)]
    pub key: String,
    /// True if the container can start without the secret or the key.
    #[field(proto = 3)]
    pub optional: Option<bool>,
}

/// A key of a file with lines KEY=VALUE.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct FileKeySelector {
    /// Name of the volume with the file.
    #[field(proto = 1, keep)]
    pub volume_name: String,
    /// Path of the file in the volume; relative, without .. in it.
    #[field(proto = 2, keep)]
    pub path: String,
    /// The key, up to 128 characters.
    #[field(proto = 3, keep)]
    pub key: String,
    /// True if the container can start without the file or the key. False by default.
    #[field(proto = 4, default = false)]
    pub optional: Option<bool>,
}

/// A field of the pod.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ObjectFieldSelector {
    /// Version in which the path is meant; v1 by default.
    #[field(proto = 1)]
    pub api_version: String,
    /// Path of the field, such as metadata.name.
    #[field(proto = 2, keep)]
    pub field_path: String,
}

/// A request or limit of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ResourceFieldSelector {
    /// Name of the container; optional in variables, where it is the container itself.
    #[field(proto = 1)]
    pub container_name: String,
    /// The amount, such as limits.cpu or requests.memory.
    #[field(proto = 2, keep)]
    pub resource: String,
    /// Unit in which it is told, such as 1Mi; 1 by default.
    #[field(proto = 3)]
    pub divisor: Quantity,
}
