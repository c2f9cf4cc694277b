//! Requires permission to attest for the signer of a trust bundle.

use std::sync::Arc;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::authorization::Authorizer;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;

use super::{GROUP, may, signer_of};

/// Refuses trust bundles by users without permission for the signer.
pub(in super::super) struct ClusterTrustBundleAttest {
    pub(in super::super) authorizer: Arc<dyn Authorizer>,
}

impl Plugin for ClusterTrustBundleAttest {
    fn name(&self) -> &'static str {
        "ClusterTrustBundleAttest"
    }

    fn handles(&self, operation: Operation, phase: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update) && phase == Phase::Validating
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        let concerned = attributes.is_for(GROUP, "clustertrustbundles");
        let Some(new) = objects.new.as_deref().filter(|_| concerned) else {
            return decided(Ok(()));
        };
        let signer = signer_of(new);
        if signer.is_empty() || objects.old.is_some_and(|old| says_the_same(new, old)) {
            return decided(Ok(()));
        }
        Box::pin(async move {
            if may(&*self.authorizer, attributes.user, "attest", signer).await {
                return Ok(());
            }
            let why = format!("user not permitted to attest for signerName {signer:?}");
            Err(attributes.forbidden(Some(new), why))
        })
    }
}

/// True if nothing changes except owner references, finalizers and managed fields, so that cleaning up needs no
/// permission.
fn says_the_same(new: &dyn Object, old: &dyn Object) -> bool {
    let mut copy = new.boxed();
    let (meta, before) = (copy.meta_mut(), old.meta());
    meta.owner_references.clone_from(&before.owner_references);
    meta.finalizers.clone_from(&before.finalizers);
    meta.managed_fields.clone_from(&before.managed_fields);
    json::to_vec(&*copy) == json::to_vec(old)
}
