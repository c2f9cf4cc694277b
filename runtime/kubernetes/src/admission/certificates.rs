//! Admission of certificate requests: permissions are granted per signer.

mod approval;
mod attest;
mod signing;
mod subject_restriction;

use planesmith_access::admission::Attributes;
use planesmith_access::authorization::{Authorizer, Target};
use planesmith_access::user::UserInfo;
use planesmith_machinery::object::Object;
use planesmith_machinery::value::{self, View};

pub(super) use approval::CertificateApproval;
pub(super) use attest::ClusterTrustBundleAttest;
pub(super) use signing::CertificateSigning;
pub(super) use subject_restriction::CertificateSubjectRestriction;

const GROUP: &str = "certificates.k8s.io";

/// True if a request is for `subresource` of a certificate request; an empty `subresource` is the object itself.
fn is_for_requests(attributes: &Attributes<'_>, subresource: &str) -> bool {
    attributes.is_for(GROUP, "certificatesigningrequests") && attributes.subresource == subresource
}

/// Returns the signer that an object names; may be empty. The field is the same in every version and kind.
fn signer_of(object: &dyn Object) -> &str {
    match value::get_at(object, "spec.signerName").map(|value| value.view()) {
        Some(View::Str(name)) => name,
        _ => "",
    }
}

/// True if a user may do `verb` for a signer, or for all signers of its domain.
async fn may(authorizer: &dyn Authorizer, user: &UserInfo, verb: &str, signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or_default();
    let names = [signer.to_owned(), format!("{domain}/*")];
    for name in &names {
        let target = Target::Resource {
            group: GROUP,
            version: "*",
            resource: "signers",
            subresource: "",
            namespace: "",
            name,
        };
        if authorizer.permits(user, verb, target).await.is_ok() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
