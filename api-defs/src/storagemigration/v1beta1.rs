//! `storagemigration.k8s.io/v1beta1`: migrations of stored objects.

mod storage_version_migration;

pub use storage_version_migration::{
    StorageVersionMigration, StorageVersionMigrationSpec, StorageVersionMigrationStatus,
};
