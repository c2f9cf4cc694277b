//! Bindings, which put validating admission policies into effect.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use crate::admissionregistration::v1;
use crate::admissionregistration::v1::ValidatingAdmissionPolicyBindingSpec;

/// Puts a policy into effect for certain objects, with certain parameters and with certain actions.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1alpha1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    storage_version = v1::ValidatingAdmissionPolicyBinding,
    convert,
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
        if let Some(reference) = &mut self.spec.param_ref {
            reference
                .parameter_not_found_action
                .get_or_insert_with(|| "Deny".to_owned());
        }
    }
}

impl Convert<v1::ValidatingAdmissionPolicyBinding> for ValidatingAdmissionPolicyBinding {
    fn finish_to_hub(&self, _hub: &mut v1::ValidatingAdmissionPolicyBinding) {}

    fn finish_from_hub(&mut self, _hub: &v1::ValidatingAdmissionPolicyBinding) {}

    fn can_hold(hub: &v1::ValidatingAdmissionPolicyBinding) -> bool {
        // This version has a default for the action; later versions require it.
        let reference = hub.spec.param_ref.as_ref();
        reference.is_none_or(|reference| reference.parameter_not_found_action.is_some())
    }
}
