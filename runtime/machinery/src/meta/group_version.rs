//! References to kinds and resources in objects.

use crate::Struct;

/// A kind in one version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GroupVersionKind {
    /// The API group; empty for the core group.
    #[field(proto = 1, keep)]
    pub group: String,
    /// The version in the group.
    #[field(proto = 2, keep)]
    pub version: String,
    /// The kind.
    #[field(proto = 3, keep)]
    pub kind: String,
}

/// A resource in one version of a group.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GroupVersionResource {
    /// The API group; empty for the core group.
    #[field(proto = 1, keep)]
    pub group: String,
    /// The version in the group.
    #[field(proto = 2, keep)]
    pub version: String,
    /// The resource's plural name.
    #[field(proto = 3, keep)]
    pub resource: String,
}
