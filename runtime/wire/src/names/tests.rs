use super::*;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
     and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
     must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

#[test]
fn labels_are_short_and_have_no_dots() {
    assert!(dns_label("abc-123").is_empty());
    assert_eq!(dns_label("a.b"), ["must not contain dots"]);
    assert_eq!(dns_label(""), [LABEL]);
    assert_eq!(dns_label("-a"), [LABEL]);
    assert_eq!(dns_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
}

#[test]
fn subdomains_are_labels_joined_by_dots() {
    for name in ["a", "a.b-c.d0", "0.1"] {
        assert!(dns_subdomain(name).is_empty());
    }
    for name in ["", "A", "a..b", ".a", "a.", "a_b", "a-.b", "ä"] {
        assert_eq!(dns_subdomain(name), [SUBDOMAIN], "{name}");
    }
    assert_eq!(dns_subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
}

#[test]
fn qualified_names_have_an_optional_prefix() {
    let part = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    for name in ["a", "A_b.c", "example.com/a", "kubernetes.io/Name-1"] {
        assert!(qualified_name(name).is_empty());
    }
    assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
    assert_eq!(qualified_name("a/"), ["name part must be non-empty", part]);
    assert_eq!(qualified_name("_a"), [part]);
    assert_eq!(qualified_name("A/b"), [format!("prefix part {SUBDOMAIN}")]);
    assert_eq!(
        qualified_name(&"a".repeat(64)),
        ["name part must be no more than 63 bytes"]
    );
    let complaint = &qualified_name("a/b/c")[0];
    assert!(
        complaint.starts_with("a valid label key must consist of alphanumeric"),
        "{complaint}"
    );
    assert!(complaint.ends_with(" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
}

#[test]
fn caseless_names_have_letters_of_either_case() {
    assert!(long_name_caseless("GPU.Example.com").is_empty());
    let complaint = &long_name_caseless("-")[0];
    assert!(
        complaint.starts_with("an RFC 1123 subdomain must consist of alphanumeric characters, ")
            && complaint.contains("(e.g. 'Example.com', "),
        "{complaint}"
    );
}

#[test]
fn label_values_may_be_empty() {
    assert!(label_value("").is_empty());
    assert!(label_value("a.B_c-1").is_empty());
    assert_eq!(label_value("a b").len(), 1);
    assert_eq!(label_value(&"v".repeat(64)), ["must be no more than 63 bytes"]);
}

#[test]
fn config_keys_do_not_climb_folders() {
    assert!(config_key(".a").is_empty());
    assert_eq!(config_key("."), ["must not be '.'"]);
    assert_eq!(config_key(".."), ["must not be '..'"]);
    assert_eq!(config_key("..a"), ["must not start with '..'"]);
    let expected = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                    'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    assert_eq!(config_key("a b"), [expected]);
}

#[test]
fn path_segments_take_what_a_path_can_hold() {
    assert!(path_segment("system:node").is_empty());
    assert_eq!(path_segment(".."), ["may not be '..'"]);
    assert_eq!(path_segment("a/b%c"), ["may not contain '/'", "may not contain '%'"]);
    assert!(check_prefix(NameRule::PathSegment, "..").is_empty());
}

#[test]
fn prefix_may_end_with_a_dash_but_not_with_a_dot() {
    assert!(check_prefix(NameRule::DnsSubdomain, "web-").is_empty());
    assert_eq!(check_prefix(NameRule::DnsSubdomain, "a.b."), [SUBDOMAIN]);
    assert_eq!(check_prefix(NameRule::DnsSubdomain, "-"), [SUBDOMAIN]);
    assert_eq!(check_prefix(NameRule::DnsSubdomain, "aé-"), [SUBDOMAIN]);
}

#[test]
fn generated_names_keep_room_for_the_ending() {
    assert_eq!(generated_base("web-"), "web-");
    assert_eq!(generated_base(&"x".repeat(100)).len(), MAX_GENERATED_BASE);
    assert_eq!(generated_base(&format!("{}é", "x".repeat(57))), "x".repeat(57));
}

#[test]
fn port_names_follow_iana() {
    assert!(port_name("http-2").is_empty());
    assert_eq!(
        port_name("UPPER"),
        [
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            "must contain at least one letter (a-z)"
        ]
    );
    assert_eq!(
        port_name("a--b-"),
        [
            "must not contain consecutive hyphens",
            "must not begin or end with a hyphen"
        ]
    );
    assert_eq!(port_number(0), ["must be between 1 and 65535, inclusive"]);
}

#[test]
fn long_names_and_addresses_are_rules_of_their_own() {
    assert_eq!(
        check(NameRule::LongName, &"a".repeat(254)),
        ["must be no more than 253 bytes"]
    );
    assert!(check_prefix(NameRule::LongName, "Bad_").is_empty());
    assert_eq!(short_name(&"a".repeat(64)), ["must be no more than 63 bytes"]);
    assert_eq!(check_prefix(NameRule::WholePathSegment, ".."), ["may not be '..'"]);
    assert!(check(NameRule::OfStrategy, "a/b").is_empty() && check_prefix(NameRule::OfStrategy, "a/b").is_empty());
    assert!(check(NameRule::IpAddress, "2001:db8::1").is_empty());
    assert!(!check(NameRule::IpAddress, "a/b").is_empty());
}
