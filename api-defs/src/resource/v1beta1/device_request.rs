//! Wishes for devices, one by one.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::conversion::copy_alike;
use planesmith_machinery::quantity::Quantity;

use crate::resource::v1;

use super::DeviceSelector;

/// A wish for devices: either exactly these, or the first of several that can be fulfilled.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceRequest {
    /// Name of the request, by which constraints, settings and containers refer to it.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The class that the devices belong to.
    #[field(proto = 2, keep, optional)]
    pub device_class_name: String,
    /// Conditions that a device must satisfy, besides those of its class.
    #[field(proto = 3, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// ExactCount, for as many as count says, or All, for all devices that match.
    #[field(proto = 4, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 5)]
    pub count: i64,
    /// True if the devices are accessed for administration, even while others use them. Only in namespaces with the
    /// label resource.kubernetes.io/admin-access.
    #[field(proto = 6)]
    pub admin_access: Option<bool>,
    /// Several alternatives, the best first.
    #[field(proto = 7, list_type = atomic)]
    pub first_available: Vec<DeviceSubRequest>,
    /// Taints of devices that do not matter here.
    #[field(proto = 8, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 9)]
    pub capacity: Option<CapacityRequirements>,
}

/// One of several alternatives.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceSubRequest {
    /// Name of the alternative.
    #[field(proto = 1, keep)]
    pub name: String,
    /// The class that the devices belong to.
    #[field(proto = 2, keep)]
    pub device_class_name: String,
    /// Conditions that a device must satisfy, besides those of its class.
    #[field(proto = 3, list_type = atomic)]
    pub selectors: Vec<DeviceSelector>,
    /// ExactCount, for as many as count says, or All, for all devices that match.
    #[field(proto = 4, known("ExactCount", "All"), go_type = "DeviceAllocationMode")]
    pub allocation_mode: String,
    /// Number of devices for ExactCount. 1 when absent.
    #[field(proto = 5)]
    pub count: i64,
    /// Taints of devices that do not matter here.
    #[field(proto = 7, list_type = atomic)]
    pub tolerations: Vec<DeviceToleration>,
    /// Requested capacities of each device, for devices that can be shared.
    #[field(proto = 8)]
    pub capacity: Option<CapacityRequirements>,
}

/// Requested capacities of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequirements {
    /// Amounts by the name of the capacity.
    #[field(proto = 1, go_type = "map[v1beta1.QualifiedName]resource.Quantity")]
    pub requests: BTreeMap<String, Quantity>,
}

/// A taint of devices that does not matter to a claim.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceToleration {
    /// Key of the taint; any when empty, with the operator Exists.
    #[field(proto = 1)]
    pub key: String,
    /// Equal, which is the default, when the values must be equal, or Exists for any value.
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
    /// Effect of the taint; any when empty.
    #[field(proto = 4, known("None", "NoSchedule", "NoExecute"), go_type = "DeviceTaintEffect")]
    pub effect: String,
    /// For how long the effect NoExecute is endured, in seconds; forever when absent.
    #[field(proto = 5)]
    pub toleration_seconds: Option<i64>,
}

impl DeviceRequest {
    /// Fills in how many devices are wanted when that was not said. A request without a class has alternatives.
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

    /// Moves what is wanted to where newer versions have it.
    pub(super) fn finish_to_hub(&self, hub: &mut v1::DeviceRequest) {
        if self.wants_exactly() {
            copy_alike(self, hub.exactly.get_or_insert_default());
        }
    }

    /// Takes what is wanted from where newer versions have it.
    pub(super) fn finish_from_hub(&mut self, hub: &v1::DeviceRequest) {
        if let Some(exactly) = &hub.exactly {
            copy_alike(exactly, self);
        }
    }
}
