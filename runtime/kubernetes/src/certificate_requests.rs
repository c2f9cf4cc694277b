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

#[cfg(test)]
mod tests {
    use planesmith_api_defs::certificates::v1::CertificateSigningRequestCondition;
    use planesmith_machinery::scheme::Scheme;
    use planesmith_machinery::time::Time;
    use planesmith_patch::managers::{Tracking, track_write};

    use super::*;

    #[test]
    fn signers_own_certificates_and_no_conditions() {
        let mut request = CertificateSigningRequest::default();
        request.status.certificate = b"x".to_vec().into();
        request.status.conditions = vec![CertificateSigningRequestCondition {
            type_: "Failed".to_owned(),
            status: "True".to_owned(),
            ..CertificateSigningRequestCondition::default()
        }];
        let write = Tracking {
            manager: "signer",
            subresource: "status",
            now: Time::from_second(1),
            resets: &[],
            sent_empty: None,
        };
        track_write(None, &mut request, &write, &Scheme::new()).expect("no conversion");
        let fields = request.metadata.managed_fields[0].fields_v1.as_ref();
        let fields = fields.map(|fields| fields.as_str());
        assert_eq!(fields, Some(r#"{"f:status":{"f:certificate":{}}}"#));
    }
}
