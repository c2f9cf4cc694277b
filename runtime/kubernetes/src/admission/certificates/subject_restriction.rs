//! Refuses requests for a certificate of the group `system:masters`.

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::user::PRIVILEGED_GROUP;
use planesmith_machinery::object::Object;
use planesmith_machinery::value::{self, View};

use super::{is_for_requests, signer_of};
use crate::certificate_requests::Request;
use crate::certificate_requests::signers::CLIENT as CLIENT_SIGNER;

/// Refuses requests for that group.
pub(in super::super) struct CertificateSubjectRestriction;

impl Plugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let concerned = is_for_requests(attributes, "");
        let new = objects
            .new
            .as_deref()
            .filter(|new| concerned && signer_of(*new) == CLIENT_SIGNER);
        let refused = new.and_then(|new| check(&request_of(new)).err());
        decided(match refused {
            None => Ok(()),
            Some(why) => Err(attributes.forbidden(new, why)),
        })
    }
}

/// Returns the request, PEM; empty if the object has none.
fn request_of(object: &dyn Object) -> Vec<u8> {
    match value::get_at(object, "spec.request").map(|value| value.view()) {
        Some(View::Bytes(bytes)) => bytes.to_vec(),
        _ => Vec::new(),
    }
}

fn check(pem: &[u8]) -> Result<(), String> {
    let request = Request::read(pem).map_err(|why| format!("failed to parse CSR: {why}"))?;
    if request.user.organizations.iter().any(|name| name == PRIVILEGED_GROUP) {
        return Err(format!(
            "use of {CLIENT_SIGNER} signer with {PRIVILEGED_GROUP} group is not allowed"
        ));
    }
    Ok(())
}
