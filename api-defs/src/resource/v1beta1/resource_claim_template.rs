//! Templates of resource claims.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use crate::resource::v1;

use super::ResourceClaimSpec;

/// A template from which claims are created for individual pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "resource.k8s.io", version = "v1beta1", returns_deleted, strategy, convert)]
#[resource(storage_version = crate::resource::v1::ResourceClaimTemplate)]
#[resource(deprecated = "resource.k8s.io/v1beta1 ResourceClaimTemplate is deprecated in v1.35+, unavailable in v1.38+")]
pub struct ResourceClaimTemplate {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Template of the claims. Immutable.
    #[field(proto = 2, keep)]
    pub spec: ResourceClaimTemplateSpec,
}

/// Template of claims.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ResourceClaimTemplateSpec {
    /// Labels and annotations of the claims. Other metadata is not allowed.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The requested devices.
    #[field(proto = 2, keep)]
    pub spec: ResourceClaimSpec,
}

impl Strategy for ResourceClaimTemplate {
    fn set_defaults(&mut self) {
        self.spec.spec.set_defaults();
    }

    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.spec.check_classes(&mut errors.at("spec.spec"));
    }
}

impl Convert<v1::ResourceClaimTemplate> for ResourceClaimTemplate {
    fn finish_to_hub(&self, hub: &mut v1::ResourceClaimTemplate) {
        self.spec.spec.finish_to_hub(&mut hub.spec.spec);
    }

    fn finish_from_hub(&mut self, hub: &v1::ResourceClaimTemplate) {
        self.spec.spec.finish_from_hub(&hub.spec.spec);
    }
}
