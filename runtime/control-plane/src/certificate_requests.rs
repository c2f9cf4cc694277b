//! What can be done with requests for certificates beyond reading and writing them: they are approved and denied.

use std::sync::Arc;

use planesmith_api_defs::certificates::v1::CertificateSigningRequest;
use planesmith_server::endpoint::ObjectPart;
use planesmith_server::stores::Stores;

/// `certificatesigningrequests/approval`.
const APPROVAL: ObjectPart<CertificateSigningRequest> = ObjectPart {
    fields: &["metadata", "status.conditions"],
    prepare: CertificateSigningRequest::prepare_approval,
    check: CertificateSigningRequest::validate_approval,
};

/// Answers for what requests have below them. To be called before the kinds are installed.
pub(crate) fn handle_subresources(stores: &Stores) {
    let group = "certificates.k8s.io";
    stores.handle(group, "certificatesigningrequests", "approval", Arc::new(APPROVAL));
}
