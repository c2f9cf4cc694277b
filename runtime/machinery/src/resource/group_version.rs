//! The combined names of a kind.

use std::borrow::Cow;

use super::ResourceFacts;
use crate::group_version::{GroupKind, GroupResource, GroupVersion, GroupVersionKind, GroupVersionResource};

impl ResourceFacts {
    /// Returns the group and version of the kind.
    #[must_use]
    pub const fn group_version(&self) -> GroupVersion {
        GroupVersion {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
        }
    }

    /// Returns the kind in its group and version.
    #[must_use]
    pub const fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
            kind: Cow::Borrowed(self.kind),
        }
    }

    /// Returns the resource in its group and version.
    #[must_use]
    pub const fn group_version_resource(&self) -> GroupVersionResource {
        GroupVersionResource {
            group: Cow::Borrowed(self.group),
            version: Cow::Borrowed(self.version),
            resource: Cow::Borrowed(self.plural),
        }
    }

    /// Returns the kind in its group.
    #[must_use]
    pub const fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: Cow::Borrowed(self.group),
            kind: Cow::Borrowed(self.kind),
        }
    }

    /// The resource in its group.
    #[must_use]
    pub const fn group_resource(&self) -> GroupResource {
        GroupResource {
            group: Cow::Borrowed(self.group),
            resource: Cow::Borrowed(self.plural),
        }
    }
}
