//! A reference from an object to its owner.

use crate::Struct;

/// A reference to an owner. The owner is in the namespace of the dependent or is cluster-scoped.
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
    /// True if the owner is the managing controller.
    #[field(proto = 6)]
    pub controller: Option<bool>,
    /// True if foreground deletion of the owner must wait until this reference is removed. Setting it requires the
    /// permission to delete the owner.
    #[field(proto = 7)]
    pub block_owner_deletion: Option<bool>,
}
