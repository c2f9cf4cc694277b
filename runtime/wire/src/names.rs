//! Legal names, labels and keys, and the complaints about others.
//!
//! Each check returns the complaints of kube-apiserver, word for word; none means legal. Legal input costs one pass
//! over its bytes and no allocation.

mod address;
mod generate;
mod shape;

use crate::ip;
use shape::{is_label, is_label_starting_with_letter, is_qualified_part, is_subdomain};

pub use address::{one_per_family, parse_ip};
pub use generate::{MAX_GENERATED_BASE, generated_base};

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

const LABEL_FORMAT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_FORMAT: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const LABEL_1035_FORMAT: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED_FORMAT: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const LABEL_VALUE_FORMAT: &str = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const CONFIG_KEY_FORMAT: &str = "[-._a-zA-Z0-9]+";

/// Complaints about a name.
pub type Complaints = Vec<String>;

/// The rule for the names of the objects of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// Lower-case letters, digits, `-` and `.`, up to 253 characters (RFC 1123 subdomain).
    DnsSubdomain,
    /// Lower-case letters, digits and `-`, up to 63 characters (RFC 1123 label).
    DnsLabel,
    /// As `DnsLabel`, starting with a letter (RFC 1035 label).
    DnsLabel1035,
    /// Letters, digits, `-`, `_` and `.`, up to 253 characters, as keys of a ConfigMap.
    ConfigKey,
    /// Anything that can be a segment of a path.
    PathSegment,
    /// As `PathSegment`; the prefix of a generated name is checked as if it were the whole name.
    WholePathSegment,
    /// As `DnsSubdomain`; the prefix of a generated name is not checked.
    LongName,
    /// An IP address in its canonical form.
    IpAddress,
    /// Anything: the strategy of the kind checks the name.
    OfStrategy,
}

/// Checks a name by the rule of its kind.
#[must_use]
pub fn check(rule: NameRule, name: &str) -> Complaints {
    match rule {
        NameRule::DnsSubdomain => dns_subdomain(name),
        NameRule::DnsLabel => dns_label(name),
        NameRule::DnsLabel1035 => dns_label_1035(name),
        NameRule::ConfigKey => config_key(name),
        NameRule::PathSegment | NameRule::WholePathSegment => path_segment(name),
        NameRule::LongName => long_name(name),
        NameRule::IpAddress => ip::check(name),
        NameRule::OfStrategy => Complaints::new(),
    }
}

/// Checks the start of a name that gets a generated ending, by the rule of its kind.
#[must_use]
pub fn check_prefix(rule: NameRule, prefix: &str) -> Complaints {
    match rule {
        NameRule::PathSegment => path_segment_prefix(prefix),
        NameRule::WholePathSegment => path_segment(prefix),
        NameRule::LongName | NameRule::OfStrategy => Complaints::new(),
        NameRule::IpAddress => ip::check(prefix),
        rule => check(rule, &mask_trailing_dash(prefix)),
    }
}

/// A dash at the end is legal in front of a generated ending; it is judged as if a letter stood there.
fn mask_trailing_dash(prefix: &str) -> std::borrow::Cow<'_, str> {
    match prefix.as_bytes() {
        [.., before, b'-'] if before.is_ascii() => format!("{}a", &prefix[..prefix.len() - 2]).into(),
        _ => prefix.into(),
    }
}

/// Lower-case letters, digits and `-`, up to 63 (RFC 1123).
#[must_use]
pub fn dns_label(name: &str) -> Complaints {
    label_with_unit(name, "characters")
}

/// As [`dns_label`], in the words of kube-apiserver's declared rules, which count bytes.
#[must_use]
pub fn short_name(name: &str) -> Complaints {
    label_with_unit(name, "bytes")
}

fn label_with_unit(name: &str, unit: &str) -> Complaints {
    let mut complaints = longer_than(name, LABEL_MAX, unit);
    if !is_label(name.as_bytes()) {
        complaints.push(if is_subdomain(name) {
            "must not contain dots".to_owned()
        } else {
            let rule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
                        and must start and end with an alphanumeric character";
            pattern_complaint(rule, LABEL_FORMAT, &["my-name", "123-abc"])
        });
    }
    complaints
}

/// DNS labels joined by dots, up to 253 characters.
#[must_use]
pub fn dns_subdomain(name: &str) -> Complaints {
    subdomain_with_unit(name, "characters")
}

/// As [`dns_subdomain`], in the words of kube-apiserver's declared rules, which count bytes.
#[must_use]
pub fn long_name(name: &str) -> Complaints {
    subdomain_with_unit(name, "bytes")
}

/// As [`long_name`], with letters of either case.
#[must_use]
pub fn long_name_caseless(name: &str) -> Complaints {
    let mut complaints = longer_than(name, SUBDOMAIN_MAX, "bytes");
    if !is_subdomain(&name.to_ascii_lowercase()) {
        let rule = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', \
                    and must start and end with an alphanumeric character";
        complaints.push(pattern_complaint(rule, SUBDOMAIN_FORMAT, &["Example.com"]));
    }
    complaints
}

fn subdomain_with_unit(name: &str, unit: &str) -> Complaints {
    let mut complaints = longer_than(name, SUBDOMAIN_MAX, unit);
    if !is_subdomain(name) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
                    and must start and end with an alphanumeric character";
        complaints.push(pattern_complaint(rule, SUBDOMAIN_FORMAT, &["example.com"]));
    }
    complaints
}

/// As a DNS label, starting with a letter (RFC 1035).
#[must_use]
pub fn dns_label_1035(name: &str) -> Complaints {
    let mut complaints = longer_than(name, LABEL_MAX, "characters");
    if !is_label_starting_with_letter(name.as_bytes()) {
        let rule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
                    start with an alphabetic character, and end with an alphanumeric character";
        complaints.push(pattern_complaint(rule, LABEL_1035_FORMAT, &["my-name", "abc-123"]));
    }
    complaints
}

/// A subdomain whose first label may be `*`.
#[must_use]
pub fn wildcard_subdomain(name: &str) -> Complaints {
    let mut complaints = longer_than(name, SUBDOMAIN_MAX, "characters");
    if !name.strip_prefix("*.").is_some_and(is_subdomain) {
        let rule = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
                    consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character";
        complaints.push(pattern_complaint(
            rule,
            &format!("\\*\\.{SUBDOMAIN_FORMAT}"),
            &["*.example.com"],
        ));
    }
    complaints
}

/// A domain of at least three parts, such as the name of a webhook.
#[must_use]
pub fn fully_qualified_name(name: &str) -> Complaints {
    let complaints = dns_subdomain(name);
    if !complaints.is_empty() {
        return vec![complaints.join(",")];
    }
    match name.split('.').count() < 3 {
        true => vec!["should be a domain with at least three segments separated by dots".to_owned()],
        false => Vec::new(),
    }
}

/// A name, optionally behind a subdomain and a slash: keys of labels and annotations, finalizers.
#[must_use]
pub fn qualified_name(name: &str) -> Complaints {
    let rule = "must consist of alphanumeric characters, '-', '_' or '.', \
                and must start and end with an alphanumeric character";
    let examples = ["MyName", "my.name", "123-abc"];
    let mut complaints = Vec::new();
    let part = match name.split_once('/') {
        None => name,
        Some((_, rest)) if rest.contains('/') => {
            let complaint = pattern_complaint(rule, QUALIFIED_FORMAT, &examples);
            let ending = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {complaint} {ending}")];
        }
        Some(("", part)) => {
            complaints.push("prefix part must be non-empty".to_owned());
            part
        }
        Some((prefix, part)) => {
            let of_prefix = long_name(prefix);
            complaints.extend(
                of_prefix
                    .into_iter()
                    .map(|complaint| format!("prefix part {complaint}")),
            );
            part
        }
    };
    if part.is_empty() {
        complaints.push("name part must be non-empty".to_owned());
    } else if part.len() > LABEL_MAX {
        complaints.push(format!("name part must be no more than {LABEL_MAX} bytes"));
    }
    if !is_qualified_part(part.as_bytes()) {
        complaints.push(format!(
            "name part {}",
            pattern_complaint(rule, QUALIFIED_FORMAT, &examples)
        ));
    }
    complaints
}

/// The value of a label: empty, or letters, digits, `-`, `_` and `.`, up to 63 bytes.
#[must_use]
pub fn label_value(value: &str) -> Complaints {
    let mut complaints = longer_than(value, LABEL_MAX, "bytes");
    if !value.is_empty() && !is_qualified_part(value.as_bytes()) {
        let rule = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
                    and must start and end with an alphanumeric character";
        complaints.push(pattern_complaint(
            rule,
            LABEL_VALUE_FORMAT,
            &["MyValue", "my_value", "12345"],
        ));
    }
    complaints
}

/// A key of a ConfigMap or Secret.
#[must_use]
pub fn config_key(key: &str) -> Complaints {
    let mut complaints = longer_than(key, SUBDOMAIN_MAX, "characters");
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if key.is_empty() || !key.as_bytes().iter().all(legal) {
        let rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
        complaints.push(pattern_complaint(
            rule,
            CONFIG_KEY_FORMAT,
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    complaints.extend(match key {
        "." => Some("must not be '.'".to_owned()),
        ".." => Some("must not be '..'".to_owned()),
        key => key.starts_with("..").then(|| "must not start with '..'".to_owned()),
    });
    complaints
}

/// The name of an environment variable: printable ASCII without `=`.
#[must_use]
pub fn env_var_name(name: &str) -> Complaints {
    if name.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    let legal = |byte: u8| (byte == b' ' || byte.is_ascii_graphic()) && byte != b'=';
    match name.bytes().all(legal) {
        true => Vec::new(),
        false => vec![
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
                .to_owned(),
        ],
    }
}

/// The name of an HTTP header: letters, digits and dashes.
#[must_use]
pub fn http_header_name(name: &str) -> Complaints {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    match !name.is_empty() && name.bytes().all(legal) {
        true => Vec::new(),
        false => vec![pattern_complaint(
            "a valid HTTP header must consist of alphanumeric characters or '-'",
            "[-A-Za-z0-9]+",
            &["X-Header-Name"],
        )],
    }
}

/// As a DNS subdomain, whose labels may also have underscores, but not at their end.
#[must_use]
pub fn dns_subdomain_with_underscores(name: &str) -> Complaints {
    const FORMAT: &str = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*";
    let mut complaints = longer_than(name, SUBDOMAIN_MAX, "characters");
    let is_label = |label: &str| shape::is_label_with_underscores(label.strip_prefix('_').unwrap_or(label).as_bytes());
    if !name.split('.').all(is_label) {
        let rule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', \
                    and must start and end with an alphanumeric character";
        complaints.push(pattern_complaint(rule, FORMAT, &["example.com"]));
    }
    complaints
}

/// Anything that can stand between two slashes of a path.
#[must_use]
pub fn path_segment(name: &str) -> Complaints {
    match name {
        "." | ".." => vec![format!("may not be '{name}'")],
        name => path_segment_prefix(name),
    }
}

fn path_segment_prefix(prefix: &str) -> Complaints {
    let illegal = ["/", "%"].into_iter().filter(|part| prefix.contains(part));
    illegal.map(|part| format!("may not contain '{part}'")).collect()
}

/// The name of a port by IANA's rules: up to 15 lower-case letters, digits and single dashes, with a letter.
#[must_use]
pub fn port_name(name: &str) -> Complaints {
    let mut complaints = longer_than(name, 15, "characters");
    let legal = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    if name.is_empty() || !name.as_bytes().iter().all(legal) {
        complaints.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned());
    }
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        complaints.push("must contain at least one letter (a-z)".to_owned());
    }
    if name.contains("--") {
        complaints.push("must not contain consecutive hyphens".to_owned());
    }
    if name.starts_with('-') || name.ends_with('-') {
        complaints.push("must not begin or end with a hyphen".to_owned());
    }
    complaints
}

/// A port number: 1 to 65535.
#[must_use]
pub fn port_number(port: i64) -> Complaints {
    in_range(port, 1, 65_535)
}

/// A percentage: digits and `%`.
#[must_use]
pub fn percent(text: &str) -> Complaints {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let rule = "a valid percent string must be a numeric string followed by an ending '%'";
    vec![pattern_complaint(rule, "[0-9]+%", &["1%", "93%"])]
}

/// A number between two bounds, both included.
#[must_use]
pub fn in_range(value: i64, low: i64, high: i64) -> Complaints {
    match (low..=high).contains(&value) {
        true => Vec::new(),
        false => vec![format!("must be between {low} and {high}, inclusive")],
    }
}

/// The complaint about text that does not match a regular expression.
#[must_use]
pub fn pattern_complaint(rule: &str, format: &str, examples: &[&str]) -> String {
    if examples.is_empty() {
        return format!("{rule} (regex used for validation is '{format}')");
    }
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!(
        "{rule} (e.g. {}regex used for validation is '{format}')",
        examples.join(" or ")
    )
}

fn longer_than(text: &str, max: usize, unit: &str) -> Complaints {
    match text.len() > max {
        true => vec![format!("must be no more than {max} {unit}")],
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
