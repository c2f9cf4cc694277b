//! Which object another one depends on.

use crate::Struct;

/// What is needed to find an owner. An owner lives in the same namespace as what it owns, or in none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Struct)]
#[schema(atomic)]
pub struct OwnerReference {
    /// API version of the owner.
    #[field(keep, required, proto = 5)]
    pub api_version: String,
    /// Kind of the owner.
    #[field(keep, required, proto = 1)]
    pub kind: String,
    /// Name of the owner.
    #[field(keep, required, proto = 3)]
    pub name: String,
    /// UID of the owner.
    #[field(keep, required, proto = 4, go_type = "types.UID")]
    pub uid: String,
    /// Whether the owner is the managing controller.
    #[field(proto = 6)]
    pub controller: Option<bool>,
    /// Whether the owner cannot be removed before this reference is, when it is deleted in the foreground. Setting it
    /// needs the permission to delete the owner.
    #[field(proto = 7)]
    pub block_owner_deletion: Option<bool>,
}
