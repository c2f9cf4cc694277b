//! How much of something devices have.

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// How much of something a device has.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceCapacity {
    /// The amount.
    #[field(proto = 1, keep)]
    pub value: Quantity,
    /// How much of it a claim may take when the device is shared.
    #[field(proto = 2)]
    pub request_policy: Option<CapacityRequestPolicy>,
}

/// How much of a capacity a claim may take.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequestPolicy {
    /// What a claim takes that does not say how much.
    #[field(proto = 1, keep, optional)]
    pub default: Option<Quantity>,
    /// The amounts that can be taken, from the least to the greatest; at most 10.
    #[field(proto = 3, list_type = atomic)]
    pub valid_values: Vec<Quantity>,
    /// The range of amounts that can be taken.
    #[field(proto = 4)]
    pub valid_range: Option<CapacityRequestPolicyRange>,
}

/// A range of amounts.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CapacityRequestPolicyRange {
    /// The least amount.
    #[field(proto = 1, expected)]
    pub min: Option<Quantity>,
    /// The greatest amount; all of the capacity when absent.
    #[field(proto = 2)]
    pub max: Option<Quantity>,
    /// Amounts are this far apart; any when absent.
    #[field(proto = 3)]
    pub step: Option<Quantity>,
}
