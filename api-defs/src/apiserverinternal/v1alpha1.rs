//! `internal.apiserver.k8s.io/v1alpha1`: encodings of stored resources.

mod storage_version;

pub use storage_version::{
    ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionSpec, StorageVersionStatus,
};
