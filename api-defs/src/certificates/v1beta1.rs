//! `v1beta1`: cluster trust bundles and certificate requests of pods.

mod certificate_signing_request;
mod cluster_trust_bundle;
mod pod_certificate_request;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use certificate_signing_request::{CertificateSigningRequest, CertificateSigningRequestSpec};
pub use cluster_trust_bundle::{ClusterTrustBundle, ClusterTrustBundleSpec};
pub use pod_certificate_request::{PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus};

pub(crate) use cluster_trust_bundle::name_complaints;
pub(crate) use pod_certificate_request::expiration_bounds;

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_300, 9);
