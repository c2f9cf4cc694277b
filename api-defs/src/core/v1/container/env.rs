//! Environment variables of containers.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use crate::core::v1::LocalObjectReference;

pub(crate) use check::{FieldPaths, ResourceOf, check, check_sources};

/// An environment variable.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvVar {
    /// Name of the variable: printable ASCII without =.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Value of the variable. $(NAME) expands to a preceding variable, $$(NAME) to a literal $(NAME).
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
    /// A resource request or limit of a container.
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

/// An object whose keys all become variables.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvFromSource {
    /// Prefix of the variables' names, put before each key.
    #[field(proto = 1)]
    pub prefix: String,
    /// A config map whose keys become variables.
    #[field(proto = 2)]
    pub config_map_ref: Option<ConfigMapEnvSource>,
    /// A secret whose keys become variables.
    #[field(proto = 3)]
    pub secret_ref: Option<SecretEnvSource>,
}

/// A config map whose keys all become variables.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapEnvSource {
    /// The config map in the pod's namespace.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// True if the container can start without the object.
    #[field(proto = 2)]
    pub optional: Option<bool>,
}

/// A secret whose keys all become variables.
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
    /// Key of the value, a legal key of a config map.
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
    /// Key of the value, a legal key of a secret.
    #[field(proto = 2, keep)]
    pub key: String,
    /// True if the container can start without the secret or the key.
    #[field(proto = 3)]
    pub optional: Option<bool>,
}

/// A key of a file with lines of the form KEY=VALUE.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct FileKeySelector {
    /// Name of the volume that contains the file.
    #[field(proto = 1, keep)]
    pub volume_name: String,
    /// Relative path of the file in the volume. Must not contain `..`.
    #[field(proto = 2, keep)]
    pub path: String,
    /// Key in the file, at most 128 characters.
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
    /// API version of the path. v1 by default.
    #[field(proto = 1)]
    pub api_version: String,
    /// Path of the field, such as metadata.name.
    #[field(proto = 2, keep)]
    pub field_path: String,
}

/// A resource request or limit of a container.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ResourceFieldSelector {
    /// Name of the container. Optional for variables, where it defaults to the container itself.
    #[field(proto = 1)]
    pub container_name: String,
    /// Resource field, such as limits.cpu or requests.memory.
    #[field(proto = 2, keep)]
    pub resource: String,
    /// Unit of the value, such as 1Mi. 1 by default.
    #[field(proto = 3)]
    pub divisor: Quantity,
}
