//! Migration of stored objects to the storage version (`storagemigration.k8s.io`).

pub mod v1beta1;
