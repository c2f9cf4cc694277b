//! `v1alpha1`: bundles of trusted certificates.

mod cluster_trust_bundle;

pub use cluster_trust_bundle::{ClusterTrustBundle, ClusterTrustBundleSpec};
