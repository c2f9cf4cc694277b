//! Bundles of trusted certificates.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use crate::certificates::v1beta1;

/// Certificates that are to be trusted for what a signer issues, or for anything else when it names none. Pods can have
/// them mounted.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "certificates.k8s.io",
    version = "v1alpha1",
    cluster,
    name_rule = path_segment,
    conditional_update,
    selectable("spec.signerName"),
    storage_version = v1beta1::ClusterTrustBundle
)]
pub struct ClusterTrustBundle {
    /// Standard metadata. The name starts with that of the signer, with a colon instead of the slash and another one
    /// behind it; without a signer it has no colon.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The trusted certificates and their signer.
    #[field(proto = 2, keep)]
    pub spec: ClusterTrustBundleSpec,
}

/// Trusted certificates and the signer they belong to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ClusterTrustBundleSpec {
    /// The signer that the certificates vouch for, as domain/path; none when empty. Cannot change.
    #[field(proto = 1)]
    pub signer_name: String,
    /// The certificates of authorities, in PEM, in no order, each once.
    #[field(proto = 2, keep)]
    pub trust_bundle: String,
}
