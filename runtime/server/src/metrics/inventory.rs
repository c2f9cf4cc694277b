//! The served resources, as metrics need them.

use std::fmt::Debug;

use planesmith_machinery::resource::Text;

use crate::request::RequestInfo;

/// The resources that a chain of servers serves.
pub(crate) trait Inventory: Debug + Send + Sync {
    /// True if the resource of a request is served, for any method.
    fn serves(&self, info: &RequestInfo) -> bool;

    /// Counts of the stored objects of all resources. Versions and groups that share objects may repeat them.
    fn stored(&self) -> Vec<StoredCounts>;
}

/// Counts of a resource's stored objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredCounts {
    /// Group that the objects are stored under, which all groups that serve them share.
    pub group: Text,
    /// Plural name that the objects are stored under.
    pub resource: Text,
    /// Number of objects.
    pub objects: usize,
    /// Their size, in bytes.
    pub bytes: usize,
    /// Number of changes that the watch cache received.
    pub changes: u64,
    /// Number of changes that watches can still begin at.
    pub retained_changes: usize,
    /// The revision of the newest change, even if watches can no longer begin at it; 0 before the first.
    pub revision: u64,
}
