//! Sorts of devices.

use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::{Resource, Struct};

use super::DeviceConfiguration;
use super::DeviceSelector;

/// A sort of devices that claims can ask for by name: which devices belong to it, and how they are set up. Made by an
/// administrator.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(group = "resource.k8s.io", version = "v1beta1", cluster, generation, returns_deleted)]
#[resource(storage_version = crate::resource::v1::DeviceClass)]
#[resource(deprecated = "resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+")]
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
    /// Conditions that a device of the class must satisfy, all of them.
    #[field(proto = 1, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Settings for the drivers of the devices.
    #[field(proto = 2, list_type = atomic)]
    pub config: Vec<DeviceClassConfiguration>,
    /// Name of an extended resource by which pods can ask for devices of the class without a claim.
    #[field(proto = 4)]
    pub extended_resource_name: Option<String>,
}

/// Settings for a device of a class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClassConfiguration {
    /// The settings.
    #[field(inline, proto = 1)]
    pub device_configuration: DeviceConfiguration,
}
