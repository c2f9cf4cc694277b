//! References to an object of any kind.

use planesmith_machinery::Struct;

/// Reference to an object of any kind, or to a part of it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ObjectReference {
    /// Kind of the object, such as Pod.
    #[field(proto = 1)]
    pub kind: String,
    /// Namespace of the object; empty for cluster-scoped kinds.
    #[field(proto = 2)]
    pub namespace: String,
    /// Name of the object.
    #[field(proto = 3)]
    pub name: String,
    /// UID of the object, which distinguishes it from a later one of the same name.
    #[field(proto = 4, go_type = "types.UID")]
    pub uid: String,
    /// API version of the kind, such as apps/v1.
    #[field(proto = 5)]
    pub api_version: String,
    /// Resource version of the object.
    #[field(proto = 6)]
    pub resource_version: String,
    /// Path of the referenced part of the object, such as spec.containers{web}. Empty for the whole object.
    #[field(proto = 7)]
    pub field_path: String,
}
