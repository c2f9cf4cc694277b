//! `v1alpha1`: cluster trust bundles.

mod cluster_trust_bundle;

pub use cluster_trust_bundle::{ClusterTrustBundle, ClusterTrustBundleSpec};
