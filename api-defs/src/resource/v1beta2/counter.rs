//! Counters that devices share.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::quantity::Quantity;

/// Counters that several devices share.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CounterSet {
    /// Name of the counter set.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Counters by name.
    #[field(proto = 2, expected)]
    pub counters: BTreeMap<String, Counter>,
}

/// A counter that devices share.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Counter {
    /// Available or consumed amount.
    #[field(proto = 1, keep)]
    pub value: Quantity,
}

/// Consumption of shared counters by a device.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct DeviceCounterConsumption {
    /// Name of the counter set.
    #[field(proto = 1, keep)]
    pub counter_set: String,
    /// Consumed amounts by counter name.
    #[field(proto = 2, expected)]
    pub counters: BTreeMap<String, Counter>,
}
