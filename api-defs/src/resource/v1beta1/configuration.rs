//! Configuration of devices.

use planesmith_machinery::Struct;
use planesmith_machinery::raw::RawExtension;

/// Configuration of a device. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConfiguration {
    /// Driver-specific configuration.
    #[field(proto = 1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Driver-specific configuration.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OpaqueDeviceConfiguration {
    /// Driver that the configuration is for.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// Parameters in the driver's own format: any object, at most 10 KiB.
    #[field(proto = 2, keep)]
    pub parameters: RawExtension,
}
