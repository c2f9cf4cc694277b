//! `internal.apiserver.k8s.io/v1alpha1`: how API servers store resources.

mod storage_version;

pub use storage_version::{
    ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionSpec, StorageVersionStatus,
};
