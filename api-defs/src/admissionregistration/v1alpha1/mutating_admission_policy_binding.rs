//! Bindings, which put mutating admission policies into effect.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::{MatchResources, ParamRef};
use crate::admissionregistration::v1;

/// Puts a policy into effect for certain objects and with certain parameters.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "admissionregistration.k8s.io",
    version = "v1alpha1",
    categories("api-extensions"),
    cluster,
    generation,
    conditional_update,
    storage_version = v1::MutatingAdmissionPolicyBinding,
    convert,
    strategy
)]
#[resource(
    deprecated = "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicyBinding is deprecated in v1.35+, unavailable in v1.38+"
)]
pub struct MutatingAdmissionPolicyBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The policy that is put into effect, its parameters and the requests it is limited to.
    #[field(proto = 2)]
    pub spec: MutatingAdmissionPolicyBindingSpec,
}

/// The policy that a binding puts into effect, its parameters and the requests it is limited to.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct MutatingAdmissionPolicyBindingSpec {
    /// Name of the policy. Required.
    #[field(proto = 1)]
    pub policy_name: String,
    /// Parameters of the policy, if it has any.
    #[field(proto = 2)]
    pub param_ref: Option<ParamRef>,
    /// Narrows the requests that the policy applies to. No further limit when absent.
    #[field(proto = 3)]
    pub match_resources: Option<MatchResources>,
}

impl Strategy for MutatingAdmissionPolicyBinding {
    fn set_defaults(&mut self) {
        if let Some(resources) = &mut self.spec.match_resources {
            resources.set_defaults();
        }
        if let Some(reference) = &mut self.spec.param_ref {
            reference
                .parameter_not_found_action
                .get_or_insert_with(|| "Deny".to_owned());
        }
    }
}

impl Convert<v1::MutatingAdmissionPolicyBinding> for MutatingAdmissionPolicyBinding {
    fn finish_to_hub(&self, _hub: &mut v1::MutatingAdmissionPolicyBinding) {}

    fn finish_from_hub(&mut self, _hub: &v1::MutatingAdmissionPolicyBinding) {}

    fn can_hold(hub: &v1::MutatingAdmissionPolicyBinding) -> bool {
        // This version has a default for the action; later versions require it.
        let reference = hub.spec.param_ref.as_ref();
        reference.is_none_or(|reference| reference.parameter_not_found_action.is_some())
    }
}
