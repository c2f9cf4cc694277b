//! Cluster trust bundles.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use crate::certificates::v1beta1;

/// Trusted CA certificates for the certificates of a signer, or for general use if no signer is named. Pods can mount
/// them.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1alpha1",
    feature = crate::features::CLUSTER_TRUST_BUNDLE,
    cluster,
    name_rule = of_strategy,
    conditional_update,
    selectable("spec.signerName"),
    storage_version = v1beta1::ClusterTrustBundle
)]
#[resource(
    deprecated = "certificates.k8s.io/v1alpha1 ClusterTrustBundle is deprecated in v1.34+, unavailable in v1.37+"
)]
pub struct ClusterTrustBundle {
    /// Standard metadata. The name starts with the name of the signer, in which a colon replaces the slash, followed by
    /// a colon. Without a signer, the name contains no colon.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The trusted certificates and their signer.
    #[field(proto = 2, keep)]
    pub spec: ClusterTrustBundleSpec,
}

/// Trusted certificates and the signer they belong to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClusterTrustBundleSpec {
    /// Signer that the CA certificates belong to, as domain/path. Empty for none. Immutable.
    #[field(proto = 1)]
    pub signer_name: String,
    /// Distinct CA certificates in PEM. Their order has no meaning.
    #[field(proto = 2, keep)]
    pub trust_bundle: String,
}
