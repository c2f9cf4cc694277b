//! A reference to a resource in an object.

use crate::Struct;

/// A resource in a group, independent of the version.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GroupResource {
    /// Group of the resource; empty for the core group.
    #[field(keep, required, proto = 1)]
    pub group: String,
    /// Name of the resource in paths, such as `configmaps`.
    #[field(keep, required, proto = 2)]
    pub resource: String,
}
