//! Capacities of devices.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// A capacity of a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceCapacity {
    /// Amount of the capacity.
    #[field(proto = 1, keep)]
    pub value: Quantity,
    /// Policy for the amount that a claim may request when the device is shared.
    #[field(proto = 2)]
    pub request_policy: Option<CapacityRequestPolicy>,
}

/// Policy for the amount of a capacity that a claim may request.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequestPolicy {
    /// Amount that a claim consumes if it does not specify one.
    #[field(proto = 1, keep, optional)]
    pub default: Option<Quantity>,
    /// Amounts that can be requested, in ascending order; at most 10.
    #[field(proto = 3, list_type = atomic)]
    pub valid_values: Vec<Quantity>,
    /// Range of amounts that can be requested.
    #[field(proto = 4)]
    pub valid_range: Option<CapacityRequestPolicyRange>,
}

/// A range of amounts.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequestPolicyRange {
    /// Minimum amount.
    #[field(proto = 1, expected)]
    pub min: Option<Quantity>,
    /// Maximum amount. The whole capacity when absent.
    #[field(proto = 2)]
    pub max: Option<Quantity>,
    /// Step between legal amounts. Any amount is legal when absent.
    #[field(proto = 3)]
    pub step: Option<Quantity>,
}
