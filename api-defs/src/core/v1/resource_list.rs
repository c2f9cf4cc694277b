//! Amounts by resource name.

use std::collections::BTreeMap;

use planesmith_machinery::quantity::Quantity;

/// Amounts by resource name, such as `cpu: 500m`.
pub type ResourceList = BTreeMap<String, Quantity>;

/// Rounds amounts finer than a thousandth up, because schedulers do not count finer.
pub(super) fn round_up_to_milli(list: &mut ResourceList) {
    for amount in list.values_mut() {
        *amount = amount.rounded_to_milli();
    }
}
