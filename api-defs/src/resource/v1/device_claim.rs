//! Requests for devices.

mod check;

use planesmith_machinery::Struct;

use super::DeviceConfiguration;
use super::DeviceRequest;

pub(super) use check::{RequestNames, check_reference, check_references};

/// Requests for devices, and constraints on them.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClaim {
    /// Wishes for devices, each with a name of its own; all must be fulfilled.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub requests: Vec<DeviceRequest>,
    /// Constraints across several devices.
    #[field(proto = 2, list_type = atomic)]
    pub constraints: Vec<DeviceConstraint>,
    /// Settings for the drivers of the devices.
    #[field(proto = 3, list_type = atomic)]
    pub config: Vec<DeviceClaimConfiguration>,
}

/// Settings for devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClaimConfiguration {
    /// The requests whose devices are meant, a subrequest as request/subrequest; all when empty.
    #[field(proto = 1, list_type = atomic)]
    pub requests: Vec<String>,
    /// The settings.
    #[field(inline, proto = 2)]
    pub device_configuration: DeviceConfiguration,
}

/// A constraint across several devices.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConstraint {
    /// The requests whose devices are meant, a subrequest as request/subrequest; all when empty.
    #[field(proto = 1, list_type = atomic)]
    pub requests: Vec<String>,
    /// An attribute that all of the devices must have with the same value.
    #[field(proto = 2, go_type = "FullyQualifiedName")]
    pub match_attribute: Option<String>,
    /// An attribute that all of the devices must have with different values.
    #[field(proto = 3, go_type = "FullyQualifiedName")]
    pub distinct_attribute: Option<String>,
}
