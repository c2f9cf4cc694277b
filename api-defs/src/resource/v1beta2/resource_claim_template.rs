//! Templates of resource claims.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;
use planesmith_machinery::{Resource, Struct};

use super::ResourceClaimSpec;

/// A template from which claims are created for individual pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "resource.k8s.io", version = "v1beta2", returns_deleted, strategy)]
#[resource(storage_version = crate::resource::v1::ResourceClaimTemplate)]
#[resource(deprecated = "resource.k8s.io/v1beta2 ResourceClaimTemplate is deprecated in v1.36+, unavailable in v1.39+")]
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
}
