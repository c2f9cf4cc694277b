//! References to an object of any kind.

use planesmith_machinery::Struct;

/// Points at an object of any kind, or at a part of it.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct ObjectReference {
    /// Kind of the object, such as Pod.
    #[field(proto = 1)]
    pub kind: String,
    /// Namespace of the object; empty for cluster-scoped kinds.
    #[field(proto = 2)]
    pub namespace: String,
    /// Name of the object that is meant.
    #[field(proto = 3)]
    pub name: String,
    /// UID of the object, which tells it from a later one of the same name.
    #[field(proto = 4, go_type = "types.UID")]
    pub uid: String,
    /// Group and version in which the kind is meant, such as apps/v1.
    #[field(proto = 5)]
    pub api_version: String,
    /// Exact version of the object that is meant.
    #[field(proto = 6)]
    pub resource_version: String,
    /// The part of the object that is meant when it is not the whole, such as spec.containers{web}.
    #[field(proto = 7)]
    pub field_path: String,
}
