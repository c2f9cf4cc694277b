//! Counters that devices share.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::quantity::Quantity;

use super::names::{check_label, check_required_label};

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

/// Maximum number of counters of a set, and of those that a device consumes from one set.
const MAX_COUNTERS: usize = 32;

impl CounterSet {
    /// Reports errors in the counter set.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_required_label("name", &self.name, errors);
        check_counters(&self.counters, errors);
    }
}

impl DeviceCounterConsumption {
    /// Reports errors in the consumption.
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        check_required_label("counterSet", &self.counter_set, errors);
        check_counters(&self.counters, errors);
    }
}

fn check_counters(counters: &BTreeMap<String, Counter>, errors: &mut FieldErrors) {
    if counters.is_empty() {
        return errors.required("counters", "");
    }
    if counters.len() > MAX_COUNTERS {
        return errors.too_many("counters", counters.len(), MAX_COUNTERS as u64);
    }
    for name in counters.keys() {
        check_label("counters", name, errors);
    }
}
