//! Parameters and names that classes pass to storage drivers.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Maximum number of parameters of a class.
const MAX_PARAMETERS: usize = 512;

/// Maximum total size of the parameters of a class, keys and values, in bytes.
const MAX_WEIGHT: usize = 256 * 1024;

/// Reports errors in the parameters of a class at `parameters`.
pub(super) fn check_parameters(parameters: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    const FIELD: &str = "parameters";
    if parameters.len() > MAX_PARAMETERS {
        return errors.too_long(FIELD, MAX_PARAMETERS as u64);
    }
    if parameters.contains_key("") {
        errors.invalid(FIELD, "", "field can not be empty.");
    }
    let weight: usize = parameters.iter().map(|(key, value)| key.len() + value.len()).sum();
    if weight > MAX_WEIGHT {
        errors.too_long(FIELD, MAX_WEIGHT as u64);
    }
}

/// Reports errors in the name of a provisioner at `field`. The check is case-insensitive.
pub(super) fn check_provisioner(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        return errors.required(field, "");
    }
    let name = name.to_lowercase();
    for problem in names::qualified_name(&name) {
        errors.invalid(field, name.as_str(), problem);
    }
}
