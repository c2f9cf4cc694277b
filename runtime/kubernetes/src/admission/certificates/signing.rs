//! Requires permission to sign for the signer of a certificate.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::authorization::Authorizer;

use planesmith_machinery::object::Object;
use planesmith_machinery::value;

use super::{is_for_requests, may, signer_of};

/// Refuses certificates issued by users without permission for the signer.
pub(in super::super) struct CertificateSigning {
    pub(in super::super) authorizer: Arc<dyn Authorizer>,
}

impl Plugin for CertificateSigning {
    fn name(&self) -> &'static str {
        "CertificateSigning"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        operation == Operation::Update && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let (Some(old), Some(new)) = (objects.old, objects.new.as_deref()) else {
            return decided(Ok(()));
        };
        let is_same = ["status.certificate", "status.conditions"]
            .iter()
            .all(|path| same(old, new, path));
        if !is_for_requests(attributes, "status") || is_same {
            return decided(Ok(()));
        }
        Box::pin(async move {
            let signer = signer_of(old);
            if may(&*self.authorizer, attributes.user, "sign", signer).await {
                return Ok(());
            }
            let why = format!("user not permitted to sign requests with signerName {signer:?}");
            Err(attributes.forbidden(Some(new), why))
        })
    }
}

fn same(old: &dyn Object, new: &dyn Object, path: &str) -> bool {
    match (value::get_at(old, path), value::get_at(new, path)) {
        (Some(old), Some(new)) => value::equal(&old.view(), &new.view()),
        (old, new) => old.is_none() && new.is_none(),
    }
}
