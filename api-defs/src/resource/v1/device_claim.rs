//! Requests for devices.

mod check;

use planesmith_machinery::Struct;

use super::DeviceConfiguration;
use super::DeviceRequest;

pub(super) use check::{RequestNames, check_reference, check_references};

/// Requests for devices, and constraints on them.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClaim {
    /// Requests for devices with unique names. All of them must be fulfilled.
    #[field(proto = 1, keep, optional, list_type = atomic)]
    pub requests: Vec<DeviceRequest>,
    /// Constraints across several devices.
    #[field(proto = 2, list_type = atomic)]
    pub constraints: Vec<DeviceConstraint>,
    /// Configuration for the drivers of the devices.
    #[field(proto = 3, list_type = atomic)]
    pub config: Vec<DeviceClaimConfiguration>,
}

/// Configuration for devices of a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceClaimConfiguration {
    /// Requests that the configuration applies to, subrequests as request/subrequest. All requests when empty.
    #[field(proto = 1, list_type = atomic)]
    pub requests: Vec<String>,
    /// The configuration.
    #[field(inline, proto = 2)]
    pub device_configuration: DeviceConfiguration,
}

/// A constraint across several devices.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConstraint {
    /// Requests that the configuration applies to, subrequests as request/subrequest. All requests when empty.
    #[field(proto = 1, list_type = atomic)]
    pub requests: Vec<String>,
    /// Attribute that must have the same value on all of the devices.
    #[field(proto = 2, go_type = "FullyQualifiedName")]
    pub match_attribute: Option<String>,
    /// Attribute that must have different values on all of the devices.
    #[field(proto = 3, go_type = "FullyQualifiedName")]
    pub distinct_attribute: Option<String>,
}
