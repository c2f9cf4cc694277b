//! IP addresses and ranges in fields of objects: the checks of `planesmith-wire`, and those behind a feature gate.

pub use planesmith_wire::ip::{
    Family, IpRange, check, check_range, check_reachable, parse, parse_range, range_warnings, warnings,
};

use planesmith_wire::ip::{check_form, check_range_form};

use crate::feature::{Feature, Features};

/// Rejects new values of legacy fields in forms that parsers interpret differently.
pub const STRICT_FORMS: Feature = Feature::on("StrictIPCIDRValidation");

/// Checks a new address in a legacy field, which accepts any form while [`STRICT_FORMS`] is disabled.
#[must_use]
pub fn check_legacy(text: &str, features: &Features) -> Vec<String> {
    match features.has(&STRICT_FORMS) || parse(text).is_none() {
        true => check_form(text),
        false => Vec::new(),
    }
}

/// Checks a new range in a legacy field, which accepts any form while [`STRICT_FORMS`] is disabled.
#[must_use]
pub fn check_legacy_range(text: &str, features: &Features) -> Vec<String> {
    match features.has(&STRICT_FORMS) || parse_range(text).is_none() {
        true => check_range_form(text),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{STRICT_FORMS, check_legacy, check_legacy_range};
    use crate::feature::Features;

    #[test]
    fn forms_that_are_not_canonical_are_taken_in_old_fields() {
        let features = Features::defaults();
        assert_eq!(check_legacy("2001:DB8::8", features), Vec::<String>::new());
        assert_eq!(check_legacy_range("2001:DB8::/64", features), Vec::<String>::new());
    }

    #[test]
    fn ambiguous_forms_are_taken_by_servers_without_the_feature() {
        let (strict, lenient) = (Features::defaults(), Features::default().with(&STRICT_FORMS, false));
        assert_eq!(check_legacy("010.0.0.1", strict).len(), 1);
        assert_eq!(check_legacy("010.0.0.1", &lenient), Vec::<String>::new());
        assert_eq!(check_legacy_range("010.0.0.0/8", strict).len(), 1);
        assert_eq!(check_legacy_range("010.0.0.0/8", &lenient), Vec::<String>::new());
        assert_eq!(check_legacy("nonsense", &lenient).len(), 1);
    }
}
