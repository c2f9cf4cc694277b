//! `v1alpha1`: cluster trust bundles.

mod cluster_trust_bundle;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use cluster_trust_bundle::{ClusterTrustBundle, ClusterTrustBundleSpec};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_300, 1);
