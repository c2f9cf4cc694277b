//! Requires permission of the signer for approvals.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::authorization::Authorizer;

use super::{is_for_requests, may, signer_of};

/// Refuses approvals by users without permission for the signer.
pub(in super::super) struct CertificateApproval {
    pub(in super::super) authorizer: Arc<dyn Authorizer>,
}

impl Plugin for CertificateApproval {
    fn name(&self) -> &'static str {
        "CertificateApproval"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        // The old object counts: an update to `approval` cannot change the signer.
        let Some(old) = objects.old.filter(|_| is_for_requests(attributes, "approval")) else {
            return decided(Ok(()));
        };
        Box::pin(async move {
            let signer = signer_of(old);
            if may(&*self.authorizer, attributes.user, "approve", signer).await {
                return Ok(());
            }
            let why = format!("user not permitted to approve requests with signerName {signer:?}");
            Err(attributes.forbidden(objects.new.as_deref(), why))
        })
    }
}
