//! Writing stored objects anew (`storagemigration.k8s.io`).

pub mod v1beta1;
