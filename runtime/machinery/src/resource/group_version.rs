//! The combined names of a kind.

use super::ResourceTable;
use crate::group_version::{GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource};

impl ResourceTable {
    /// Returns the group and version of the kind.
    #[must_use]
    pub fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: self.group.clone(),
            version: self.version.clone(),
        }
    }

    /// Returns the kind in its group and version.
    #[must_use]
    pub fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: self.group.clone(),
            version: self.version.clone(),
            kind: self.kind.clone(),
        }
    }

    /// Returns the resource in its group and version.
    #[must_use]
    pub fn group_version_resource(&self) -> GroupVersionResource {
        GroupVersionResource {
            group: self.group.clone(),
            version: self.version.clone(),
            resource: self.plural.clone(),
        }
    }

    /// Returns the kind in its group.
    #[must_use]
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }

    /// Returns the resource in its group.
    #[must_use]
    pub fn group_resource(&self) -> GroupResource {
        GroupResource {
            group: self.group.clone(),
            resource: self.plural.clone(),
        }
    }
}
