//! Requests for certificates: their contents, the built-in signers, and their approval and denial.

mod request;
pub(crate) mod signers;

use std::sync::Arc;

use planesmith_api_defs::certificates::v1::CertificateSigningRequest;
use planesmith_server::stores::Stores;
use planesmith_server::verbs::ObjectPart;

pub(crate) use request::Request;

/// `certificatesigningrequests/approval`.
const APPROVAL: ObjectPart<CertificateSigningRequest> = ObjectPart {
    resets: &["spec", "status.certificate"],
    prepare: CertificateSigningRequest::prepare_approval,
    check: CertificateSigningRequest::validate_approval,
};

/// Registers the handlers of the subresources. To be called before the kinds are installed.
pub(crate) fn handle_subresources(stores: &Stores) {
    let group = "certificates.k8s.io";
    stores.handle(group, "certificatesigningrequests", "approval", Arc::new(APPROVAL));
}
