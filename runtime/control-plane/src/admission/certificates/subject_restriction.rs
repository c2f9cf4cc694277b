//! Nobody asks for a certificate of the group that may do everything.

use planesmith_access::admission::{Attributes, Objects, Operation, Phase, Plugin, Verdict, decided};
use planesmith_access::user::PRIVILEGED_GROUP;
use planesmith_machinery::object::Object;
use planesmith_machinery::value::{self, View};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::pem::parse_x509_pem;
use x509_parser::prelude::FromDer as _;

use super::{is_for_requests, signer_of};

/// The signer of certificates that the server takes for users.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Refuses requests for that group.
pub(in super::super) struct CertificateSubjectRestriction;

impl Plugin for CertificateSubjectRestriction {
    fn name(&self) -> &'static str {
        "CertificateSubjectRestriction"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Create && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> Verdict<'a> {
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

/// The request: PEM, as bytes or as text that stands for them.
fn request_of(object: &dyn Object) -> Vec<u8> {
    match value::get_at(object, "spec.request").map(|value| value.view()) {
        Some(View::Bytes(bytes)) => bytes.to_vec(),
        _ => Vec::new(),
    }
}

fn check(pem: &[u8]) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("failed to parse CSR: {why}");
    let (_, pem) = parse_x509_pem(pem).map_err(|_| failed(&"PEM block type must be CERTIFICATE REQUEST"))?;
    if pem.label != "CERTIFICATE REQUEST" {
        return Err(failed(&"PEM block type must be CERTIFICATE REQUEST"));
    }
    let (_, request) = X509CertificationRequest::from_der(&pem.contents).map_err(|error| failed(&error))?;
    let mut organizations = request.certification_request_info.subject.iter_organization();
    if organizations.any(|name| name.as_str() == Ok(PRIVILEGED_GROUP)) {
        return Err(format!(
            "use of {CLIENT_SIGNER} signer with {PRIVILEGED_GROUP} group is not allowed"
        ));
    }
    Ok(())
}
