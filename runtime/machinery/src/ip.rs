//! IP addresses and ranges in fields of objects: the checks of `planesmith-wire`, and those behind a feature gate.

pub use planesmith_wire::ip::{
    Family, IpRange, check, check_range, check_reachable, parse, parse_range, range_warnings, warnings,
};

use planesmith_wire::ip::{check_form, check_range_form};

use crate::feature::Feature;

/// Rejects new values of legacy fields in forms that parsers interpret differently.
pub static STRICT_FORMS: Feature = Feature::on("StrictIPCIDRValidation");

/// Checks a new address in a legacy field, which accepts any form while [`STRICT_FORMS`] is disabled.
#[must_use]
pub fn check_legacy(text: &str) -> Vec<String> {
    match STRICT_FORMS.is_on() || parse(text).is_none() {
        true => check_form(text),
        false => Vec::new(),
    }
}

/// Checks a new range in a legacy field, which accepts any form while [`STRICT_FORMS`] is disabled.
#[must_use]
pub fn check_legacy_range(text: &str) -> Vec<String> {
    match STRICT_FORMS.is_on() || parse_range(text).is_none() {
        true => check_range_form(text),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_legacy, check_legacy_range};

    #[test]
    fn forms_that_are_not_canonical_are_taken_in_old_fields() {
        assert_eq!(check_legacy("2001:DB8::8"), Vec::<String>::new());
        assert_eq!(check_legacy_range("2001:DB8::/64"), Vec::<String>::new());
    }
}
