//! Amounts by resource name.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::quantity::Quantity;

use super::resource_name::counts_whole;

/// Amounts by resource name, such as `cpu: 500m`.
pub type ResourceList = BTreeMap<String, Quantity>;

/// Rounds amounts finer than a thousandth up, because schedulers do not count finer.
pub(crate) fn round_up_to_milli(list: &mut ResourceList) {
    for amount in list.values_mut() {
        *amount = amount.rounded_to_milli();
    }
}

/// Reports an amount of `resource` at `field` that is less than nothing or a fraction of what cannot be split.
pub(super) fn check_amount(errors: &mut FieldErrors, field: &str, resource: &str, amount: &Quantity) {
    if amount.is_negative() {
        errors.invalid(field, amount.as_str(), "must be greater than or equal to 0");
    }
    if counts_whole(resource) && amount.milli_value() % 1000 != 0 {
        errors.invalid(field, amount.as_str(), "must be an integer");
    }
}
