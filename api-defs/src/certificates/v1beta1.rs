//! `v1beta1`: cluster trust bundles and certificate requests of pods.

mod certificate_signing_request;
mod cluster_trust_bundle;
mod pod_certificate_request;

pub use certificate_signing_request::{CertificateSigningRequest, CertificateSigningRequestSpec};
pub use cluster_trust_bundle::{ClusterTrustBundle, ClusterTrustBundleSpec};
pub use pod_certificate_request::{PodCertificateRequest, PodCertificateRequestSpec, PodCertificateRequestStatus};

pub(crate) use cluster_trust_bundle::name_complaints;
pub(crate) use pod_certificate_request::expiration_bounds;
