//! `v1`: certificate signing requests.

mod certificate_signing_request;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use certificate_signing_request::{
    CertificateSigningRequest, CertificateSigningRequestCondition, CertificateSigningRequestSpec,
    CertificateSigningRequestStatus,
};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(17_300, 15);
