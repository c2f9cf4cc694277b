//! Quantities by resource name.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::quantity::Quantity;

use super::resource_name::counts_whole;

/// Quantities by resource name, such as `cpu: 500m`.
pub type ResourceList = BTreeMap<String, Quantity>;

/// Rounds quantities up to thousandths, the precision of schedulers.
pub(crate) fn round_up_to_milli(list: &mut ResourceList) {
    for amount in list.values_mut() {
        *amount = amount.rounded_to_milli();
    }
}

/// Reports a quantity of `resource` at `field` that is negative, or fractional although the resource is indivisible.
pub(super) fn check_amount(errors: &mut FieldErrors, field: &str, resource: &str, amount: &Quantity) {
    if amount.is_negative() {
        errors.invalid(field, amount.as_str(), "must be greater than or equal to 0");
    }
    if counts_whole(resource) && amount.milli_value() % 1000 != 0 {
        errors.invalid(field, amount.as_str(), "must be an integer");
    }
}
