//! Access modes of volumes.

use planesmith_machinery::field_error::FieldErrors;

/// The modes and their abbreviations in tables.
const MODES: [(&str, &str); 4] = [
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    (ONE_POD, "RWOP"),
];

/// The mode that excludes all others.
const ONE_POD: &str = "ReadWriteOncePod";

/// Reports errors in the modes at `accessModes`.
pub(super) fn check_access_modes(modes: &[String], errors: &mut FieldErrors) {
    const FIELD: &str = "accessModes";
    let known = MODES.map(|(mode, _)| mode);
    for mode in modes.iter().filter(|mode| !known.contains(&mode.as_str())) {
        errors.not_supported(FIELD, mode, &known);
    }
    let other = |mode: &String| mode != ONE_POD && known.contains(&mode.as_str());
    if modes.iter().any(|mode| mode == ONE_POD) && modes.iter().any(other) {
        errors.forbidden(FIELD, "may not use ReadWriteOncePod with other access modes");
    }
}

/// Returns the abbreviations of the modes for tables.
pub(super) fn short_modes(modes: &[String]) -> String {
    let given = MODES.iter().filter(|(mode, _)| modes.iter().any(|given| given == mode));
    given.map(|(_, short)| *short).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_show_modes_once_and_in_a_fixed_order() {
        let modes = ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany", "Odd"].map(str::to_owned);
        assert_eq!(short_modes(&modes), "RWO,RWX");
    }
}
