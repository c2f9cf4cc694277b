//! Selectors of devices.

use planesmith_machinery::Struct;

/// A selector of devices. Exactly one field is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSelector {
    /// A selector in CEL.
    #[field(proto = 1)]
    pub cel: Option<CELDeviceSelector>,
}

/// A selector of devices in CEL.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CELDeviceSelector {
    /// CEL expression that evaluates to true for matching devices. Variable: device.
    #[field(proto = 1, keep)]
    pub expression: String,
}
