//! Settings for devices.

use planesmith_machinery::Struct;
use planesmith_machinery::raw::RawExtension;

/// Settings for a device. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceConfiguration {
    /// Settings that only the driver understands.
    #[field(proto = 1)]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Settings that only a driver understands.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct OpaqueDeviceConfiguration {
    /// The driver that the settings are for.
    #[field(proto = 1, keep)]
    pub driver: String,
    /// The settings: any object, at most 10 KiB.
    #[field(proto = 2, keep)]
    pub parameters: RawExtension,
}
