//! Conditions on devices.

use planesmith_machinery::Struct;

/// A condition on devices. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSelector {
    /// A condition as an expression.
    #[field(proto = 1)]
    pub cel: Option<CELDeviceSelector>,
}

/// A condition on devices as an expression.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CELDeviceSelector {
    /// An expression in CEL that is true for devices that satisfy the condition; the device is called device.
    #[field(proto = 1, keep)]
    pub expression: String,
}
