//! `storagemigration.k8s.io/v1beta1`: migrations of stored objects.

mod storage_version_migration;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use storage_version_migration::{
    StorageVersionMigration, StorageVersionMigrationSpec, StorageVersionMigrationStatus,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(15_800, 9);
