//! `internal.apiserver.k8s.io/v1alpha1`: encodings of stored resources.

mod storage_version;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use storage_version::{
    ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionSpec, StorageVersionStatus,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_000, 9);
