//! Requests for devices.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

use crate::resource::v1::default_amount;

use super::DeviceSelector;

/// A request for devices: either an exact request, or a list of alternatives of which the first available one is used.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequest {
    /// Name of the request, which constraints, configurations and containers refer to.
    #[field(proto = 1, keep)]
    pub name: String,
    /// An exact request.
    #[field(proto = 2)]
    pub exactly: Option<ExactDeviceRequest>,
    /// Alternative requests in order of preference.
    #[field(proto = 3, list_type = atomic)]
    pub first_available: Vec<DeviceSubRequest>,
}

/// A request for devices of one class.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ExactDeviceRequest {
    /// Class of the devices.
    #[field(proto = 1, keep)]
    pub device_class_name: String,
    /// Selectors that a device must match in addition to those of its class.
    #[field(proto = 2, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Allocation mode: ExactCount for the number of devices in count, All for all matching devices.
    #[field(proto = 3, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 4)]
    pub count: i64,
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 5)]
    pub admin_access: Option<bool>,
    /// Device taints that the request tolerates.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 7)]
    pub capacity: Option<CapacityRequirements>,
}

/// An alternative request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSubRequest {
    /// Name of the alternative.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Class of the devices.
    #[field(proto = 2, keep)]
    pub device_class_name: String,
    /// Selectors that a device must match in addition to those of its class.
    #[field(proto = 3, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// Allocation mode: ExactCount for the number of devices in count, All for all matching devices.
    #[field(proto = 4, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 5)]
    pub count: i64,
    /// Device taints that the request tolerates.
    #[field(proto = 6, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 7)]
    pub capacity: Option<CapacityRequirements>,
}

/// Requested capacities of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequirements {
    /// Requested amounts by capacity name.
    #[field(proto = 1, go_type = "map[v1beta2.QualifiedName]resource.Quantity")]
    pub requests: BTreeMap<String, Quantity>,
}

/// A device taint that a claim tolerates.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceToleration {
    /// Key of the taint. Any key when empty, with the operator Exists.
    #[field(proto = 1)]
    pub key: String,
    /// Operator: Equal (the default) matches the value, Exists matches any value.
    #[field(
        proto = 2,
        default = "Equal",
        known("Exists", "Equal"),
        go_type = "DeviceTolerationOperator"
    )]
    pub operator: String,
    /// Value of the taint.
    #[field(proto = 3)]
    pub value: String,
    /// Effect of the taint. Any effect when empty.
    #[field(proto = 4, known("None", "NoSchedule", "NoExecute"), go_type = "DeviceTaintEffect")]
    pub effect: String,
    /// Duration in seconds for which the effect NoExecute is tolerated. Unlimited when absent.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}

impl DeviceRequest {
    /// Sets the default number of devices.
    pub(super) fn set_defaults(&mut self) {
        if let Some(exactly) = &mut self.exactly {
            default_amount(&mut exactly.allocation_mode, &mut exactly.count);
        }
        for alternative in &mut self.first_available {
            default_amount(&mut alternative.allocation_mode, &mut alternative.count);
        }
    }
}
