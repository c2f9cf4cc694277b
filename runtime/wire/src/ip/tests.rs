//! Addresses and ranges that are legal, refused and warned about.

use super::*;

#[test]
fn every_form_that_was_ever_taken_is_understood() {
    for (text, meaning) in [
        ("10.0.0.1", Some("10.0.0.1")),
        ("010.000.00.01", Some("10.0.0.1")),
        ("::ffff:10.0.0.1", Some("10.0.0.1")),
        ("::ffff:10.0.0.01", Some("10.0.0.1")),
        ("2001:DB8::0001", Some("2001:db8::1")),
        ("10.0.0", None),
        ("10.0.0.256", None),
        ("10.0.0.+1", None),
        ("1..2.3", None),
        ("fe80::1%eth0", None),
        ("", None),
    ] {
        assert_eq!(
            parse(text).map(|address| address.to_string()).as_deref(),
            meaning,
            "{text}"
        );
    }
}

#[test]
fn addresses_are_refused_in_forms_that_readers_disagree_about() {
    let complaint = |text: &str| check(text).join("; ");
    assert_eq!(complaint("10.0.0.1"), "");
    assert_eq!(complaint("2001:db8::1"), "");
    assert_eq!(complaint("10.0.0.08"), "must not have leading 0s");
    assert_eq!(complaint("::ffff:10.0.0.1"), "must not be an IPv4-mapped IPv6 address");
    assert_eq!(complaint("2001:DB8::8"), "must be in canonical form (\"2001:db8::8\")");
    assert_eq!(complaint("300.1.1.1"), NO_ADDRESS);
}

#[test]
fn ranges_are_refused_in_forms_that_readers_disagree_about() {
    let complaint = |text: &str| check_range(text).join("; ");
    assert_eq!(complaint("10.0.0.0/24"), "");
    assert_eq!(
        complaint("10.0.0.1/24"),
        "must not have bits set beyond the prefix length"
    );
    assert_eq!(
        complaint("10.0.0.0/024"),
        "must not have leading 0s in IP or prefix length"
    );
    assert_eq!(
        complaint("2001:DB8::/64"),
        "must be in canonical form (\"2001:db8::/64\")"
    );
    for text in ["10.0.0.0/33", "2001:db8::/200", "10.0.0.0", "abc", "10.0.0.0/", "/24"] {
        assert!(complaint(text).starts_with("must be a valid CIDR value"), "{text}");
    }
    let (_, mapped) = parse_range("::ffff:10.0.0.0/104").unwrap();
    assert_eq!(mapped.to_string(), "10.0.0.0/8");
}

#[test]
fn addresses_that_lead_nowhere_are_told_apart() {
    assert_eq!(check_reachable("0.0.0.0"), ["may not be unspecified (0.0.0.0)"]);
    assert_eq!(
        check_reachable("::1"),
        ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]
    );
    assert_eq!(
        check_reachable("169.254.1.1"),
        ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"]
    );
    assert_eq!(
        check_reachable("224.0.0.7"),
        ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"]
    );
    assert_eq!(check_reachable("224.0.1.7"), Vec::<String>::new());
}

#[test]
fn tolerated_forms_are_warned_of() {
    assert_eq!(
        warnings("spec.ip", "10.0.0.08"),
        ["spec.ip: non-standard IP address \"10.0.0.08\" is invalid: use \"10.0.0.8\""]
    );
    assert_eq!(
        warnings("spec.ip", "2001:DB8::8"),
        ["spec.ip: IPv6 address \"2001:DB8::8\" should be in RFC 5952 canonical format (\"2001:db8::8\")"]
    );
    assert!(warnings("spec.ip", "10.0.0.8").is_empty());
    assert_eq!(
        range_warnings("spec.cidr", "10.0.0.1/24"),
        [
            "spec.cidr: CIDR value \"10.0.0.1/24\" is ambiguous in this context (should be \"10.0.0.0/24\" or \
          \"10.0.0.1/32\"?)"
        ]
    );
    assert_eq!(
        range_warnings("spec.cidr", "2001:DB8::/64"),
        ["spec.cidr: IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical format (\"2001:db8::/64\")"]
    );
}

#[test]
fn ranges_hold_the_addresses_that_share_their_bits() {
    let (_, range) = parse_range("192.0.2.128/25").unwrap();
    assert!(range.contains("192.0.2.200".parse().unwrap()));
    assert!(!range.contains("192.0.2.1".parse().unwrap()));
    assert!(!range.contains("2001:db8::1".parse().unwrap()));
    let (_, all) = parse_range("::/0").unwrap();
    assert!(all.contains("2001:db8::1".parse().unwrap()));
}
