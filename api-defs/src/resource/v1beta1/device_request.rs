//! Requests for devices.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::conversion::copy_alike;
use planesmith_machinery::quantity::Quantity;

use crate::resource::v1;

use super::DeviceSelector;

/// A request for devices: either an exact request, or a list of alternatives of which the first available one is used.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequest {
    /// Name of the request, which constraints, configurations and containers refer to.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Class of the devices.
    #[field(proto = 2, keep, optional)]
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
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 6)]
    pub admin_access: Option<bool>,
    /// Alternative requests in order of preference.
    #[field(proto = 7, list_type = atomic)]
    pub first_available: Vec<DeviceSubRequest>,
    /// Device taints that the request tolerates.
    #[field(proto = 8, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 9)]
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
    #[field(proto = 7, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 8)]
    pub capacity: Option<CapacityRequirements>,
}

/// Requested capacities of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequirements {
    /// Requested amounts by capacity name.
    #[field(proto = 1, go_type = "map[v1beta1.QualifiedName]resource.Quantity")]
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
    /// Sets the default number of devices. A request without a class has alternatives instead.
    pub(super) fn set_defaults(&mut self) {
        if !self.device_class_name.is_empty() {
            v1::default_amount(&mut self.allocation_mode, &mut self.count);
        }
        for alternative in &mut self.first_available {
            v1::default_amount(&mut alternative.allocation_mode, &mut alternative.count);
        }
    }

    /// True if fields of an exact request are set, which exclude alternatives.
    pub(super) fn wants_exactly(&self) -> bool {
        !self.device_class_name.is_empty()
            || !self.selectors.is_empty()
            || !self.allocation_mode.is_empty()
            || self.count != 0
            || self.admin_access.is_some()
            || !self.tolerations.is_empty()
            || self.capacity.is_some()
    }

    /// Converts the exact request to the structure of newer versions.
    pub(super) fn finish_to_hub(&self, hub: &mut v1::DeviceRequest) {
        if self.wants_exactly() {
            copy_alike(self, hub.exactly.get_or_insert_default());
        }
    }

    /// Converts the exact request from the structure of newer versions.
    pub(super) fn finish_from_hub(&mut self, hub: &v1::DeviceRequest) {
        if let Some(exactly) = &hub.exactly {
            copy_alike(exactly, self);
        }
    }
}
