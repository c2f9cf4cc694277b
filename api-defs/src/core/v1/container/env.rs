//! Environment variables of containers.

mod check;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use crate::core::v1::LocalObjectReference;

pub(crate) use check::{FieldPaths, ResourceOf, check, check_sources};

/// Env var.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvVar {
    /// The name.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The value.
    #[field(proto = 2)]
    pub value: String,
    /// The value from.
    #[field(proto = 3)]
    pub value_from: Option<EnvVarSource>,
}

/// Env var source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvVarSource {
    /// The field ref.
    #[field(proto = 1)]
    pub field_ref: Option<ObjectFieldSelector>,
    /// The resource field ref.
    #[field(proto = 2)]
    pub resource_field_ref: Option<ResourceFieldSelector>,
    /// The config map key ref.
    #[field(proto = 3)]
    pub config_map_key_ref: Option<ConfigMapKeySelector>,
    /// The secret key ref.
    #[field(proto = 4)]
    pub secret_key_ref: Option<SecretKeySelector>,
    /// The file key ref.
    #[field(proto = 5)]
    pub file_key_ref: Option<FileKeySelector>,
}

/// Env from source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct EnvFromSource {
    /// The prefix.
    #[field(proto = 1)]
    pub prefix: String,
    /// The config map ref.
    #[field(proto = 2)]
    pub config_map_ref: Option<ConfigMapEnvSource>,
    /// The secret ref.
    #[field(proto = 3)]
    pub secret_ref: Option<SecretEnvSource>,
}

/// Config map env source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ConfigMapEnvSource {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The optional.
    #[field(proto = 2)]
    pub optional: Option<bool>,
}

/// Secret env source.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct SecretEnvSource {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The optional.
    #[field(proto = 2)]
    pub optional: Option<bool>,
}

/// Config map key selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ConfigMapKeySelector {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The key.
    #[field(proto = 2, keep)]
    pub key: String,
    /// The optional.
    #[field(proto = 3)]
    pub optional: Option<bool>,
}

/// Secret key selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct SecretKeySelector {
    /// The local object reference.
    #[field(inline, proto = 1)]
    pub local_object_reference: LocalObjectReference,
    /// The key.
    #[field(proto = 2, keep)]
    pub key: String,
    /// The optional.
    #[field(proto = 3)]
    pub optional: Option<bool>,
}

/// File key selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct FileKeySelector {
    /// The volume name.
    #[field(proto = 1, keep)]
    pub volume_name: String,
    /// The path.
    #[field(proto = 2, keep)]
    pub path: String,
    /// The key.
    #[field(proto = 3, keep)]
    pub key: String,
    /// The optional.
    #[field(proto = 4, default = false)]
    pub optional: Option<bool>,
}

/// Object field selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ObjectFieldSelector {
    /// The api version.
    #[field(proto = 1)]
    pub api_version: String,
    /// The field path.
    #[field(proto = 2, keep)]
    pub field_path: String,
}

/// Resource field selector.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ResourceFieldSelector {
    /// The container name.
    #[field(proto = 1)]
    pub container_name: String,
    /// The resource.
    #[field(proto = 2, keep)]
    pub resource: String,
    /// The divisor.
    #[field(proto = 3)]
    pub divisor: Quantity,
}
