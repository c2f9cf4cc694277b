//! Templates of resource claims.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::validation::check_template_metadata;
use planesmith_machinery::{Resource, Struct};

use super::ResourceClaimSpec;

/// A template from which claims are created for individual pods.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1",
    returns_deleted,
    strategy,
    strategy_extensions
)]
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
        self.spec.check(&mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        if self.spec != old.spec {
            errors.invalid("spec", GoValue(&self.spec), "field is immutable");
        }
    }
}

impl StrategyExtensions for ResourceClaimTemplate {
    const CHECK_COST_PER_BYTE: u64 = 200;
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}

impl ResourceClaimTemplateSpec {
    fn check(&self, errors: &mut FieldErrors) {
        check_template_metadata("metadata", &self.metadata, errors);
        for field in [
            "metadata.ownerReferences",
            "metadata.finalizers",
            "metadata.managedFields",
        ] {
            if errors.was_sent_empty(field) {
                errors.forbidden(field, "cannot be set");
            }
        }
        self.spec.check(&mut errors.at("spec"));
    }
}
