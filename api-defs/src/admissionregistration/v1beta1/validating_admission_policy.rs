//! Validating admission policies in CEL.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::admissionregistration::v1;
use crate::admissionregistration::v1::{ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyStatus};

/// Rules in CEL that the server itself applies to requests. A binding puts the policy into effect.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1beta1",
    categories("api-extensions"),
    cluster,
    status,
    generation,
    conditional_update,
    storage_version = v1::ValidatingAdmissionPolicy,
    unserved,
    strategy
)]
pub struct ValidatingAdmissionPolicy {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The validations of the policy and the requests they apply to.
    #[field(proto = 2)]
    pub spec: ValidatingAdmissionPolicySpec,
    /// Results of the type check and conditions that controllers report.
    #[field(proto = 3)]
    pub status: ValidatingAdmissionPolicyStatus,
}

impl Strategy for ValidatingAdmissionPolicy {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
