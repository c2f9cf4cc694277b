//! Bindings, which put validating admission policies into effect.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::admissionregistration::v1;
use crate::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpec;

/// Puts a policy into effect for certain objects, with certain parameters and with certain actions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1beta1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    storage_version = v1::ValidatingAdmissionPolicyBinding,
    unserved,
    strategy
)]
pub struct ValidatingAdmissionPolicyBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The policy that is put into effect, its parameters and the requests it is limited to.
    #[field(proto = 2, expected)]
    pub spec: ValidatingAdmissionPolicyBindingSpec,
}

impl Strategy for ValidatingAdmissionPolicyBinding {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}
