//! Device classes.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep};
use planesmith_machinery::{Resource, Struct};

use super::list::check_each;
use crate::core::v1::is_extended_resource;

use super::DeviceConfiguration;
use super::DeviceSelector;

/// A class of devices that claims can request by name. Created by an administrator.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "resource.k8s.io",
    version = "v1",
    cluster,
    name_rule = long_name,
    generation,
    returns_deleted,
    strategy, strategy_extensions
)]
pub struct DeviceClass {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Selectors and configuration of the class.
    #[field(proto = 2, keep)]
    pub spec: DeviceClassSpec,
}

/// Selectors and configuration of a device class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClassSpec {
    /// Selectors that a device of the class must all match.
    #[field(proto = 1, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Configuration for the drivers of the devices.
    #[field(proto = 2, list_type = atomic)]
    pub config: Vec<DeviceClassConfiguration>,
    /// Name of an extended resource through which pods can request devices of the class without a claim.
    #[field(proto = 4)]
    pub extended_resource_name: Option<String>,
}

/// Configuration for the devices of a class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClassConfiguration {
    /// The configuration.
    #[field(inline, proto = 1)]
    pub device_configuration: DeviceConfiguration,
}

/// Maximum number of selectors and of configurations of a class.
const MAX_ELEMENTS: usize = 32;

impl Strategy for DeviceClass {
    fn validate(&self, errors: &mut FieldErrors) {
        self.spec.check(None, &mut errors.at("spec"));
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        self.spec.check(Some(&old.spec), &mut errors.at("spec"));
    }
}

impl StrategyExtensions for DeviceClass {
    const CHECK_COST_PER_BYTE: u64 = 1_000;

    // The spec is validated once, together with the old one, after the immutable metadata.
    const UPDATE_ORDER: &'static [UpdateStep] = &[
        UpdateStep::Metadata,
        UpdateStep::Declared,
        UpdateStep::MetadataChange,
        UpdateStep::Change,
    ];
}

impl DeviceClassSpec {
    /// Reports errors in the spec. Parts that `old` contains are not checked again.
    fn check(&self, old: Option<&Self>, errors: &mut FieldErrors) {
        let stored = old.is_some_and(|old| old.selectors == self.selectors);
        check_each(
            "selectors",
            &self.selectors,
            MAX_ELEMENTS,
            errors,
            |selector, errors| {
                selector.check(stored, errors);
            },
        );
        let stored = old.is_some_and(|old| old.config == self.config);
        check_each("config", &self.config, MAX_ELEMENTS, errors, |config, errors| {
            config.device_configuration.check(stored, errors);
        });
        if let Some(name) = &self.extended_resource_name
            && !is_extended_resource(name)
        {
            errors.invalid("extendedResourceName", name, "must be a valid extended resource name");
        }
    }
}
