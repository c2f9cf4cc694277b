//! Legal names of drivers, pools, devices and their attributes.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::names;

/// Maximum length of a pool's name in bytes.
const MAX_POOL: u64 = 253;

/// Maximum length of an attribute's or capacity's name without its domain, in bytes.
const MAX_IDENTIFIER: usize = 32;

/// Reports errors in the DNS label at `field`.
pub(crate) fn check_label(field: &str, name: &str, errors: &mut FieldErrors) {
    for problem in names::dns_label(name) {
        errors.invalid(field, name, problem);
    }
}

/// Reports errors in the DNS subdomain at `field`.
pub(crate) fn check_subdomain(field: &str, name: &str, errors: &mut FieldErrors) {
    for problem in names::dns_subdomain(name) {
        errors.invalid(field, name, problem);
    }
}

/// Reports errors in the required DNS subdomain at `field`.
pub(crate) fn check_required_subdomain(field: &str, name: &str, errors: &mut FieldErrors) {
    match name.is_empty() {
        true => errors.required(field, ""),
        false => check_subdomain(field, name, errors),
    }
}

/// Reports errors in the required DNS label at `field`.
pub(crate) fn check_required_label(field: &str, name: &str, errors: &mut FieldErrors) {
    match name.is_empty() {
        true => errors.required(field, ""),
        false => check_label(field, name, errors),
    }
}

/// Reports errors in the name of a pool at `field`, DNS subdomains separated by slashes.
pub(crate) fn check_pool(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        return errors.required(field, "");
    }
    if name.len() as u64 > MAX_POOL {
        errors.too_long(field, MAX_POOL);
    }
    for part in name.split('/') {
        check_subdomain(field, part, errors);
    }
}

/// Reports errors in the name of an attribute at `field`, an identifier with an optional domain.
pub(crate) fn check_qualified(field: &str, name: &str, errors: &mut FieldErrors) {
    let Some((domain, identifier)) = name.split_once('/') else {
        return check_identifier(field, name, errors);
    };
    if identifier.contains('/') {
        // As in Kubernetes, further slashes are not reported.
        return;
    }
    match domain.is_empty() {
        true => errors.invalid(field, "", "the domain must not be empty"),
        false => crate::core::v1::check_driver_name(field, domain, errors),
    }
    match identifier.is_empty() {
        true => errors.invalid(field, "", "the name must not be empty"),
        false => check_identifier(field, identifier, errors),
    }
}

/// Reports errors in the name of an attribute at `field`, which needs a domain.
pub(crate) fn check_fully_qualified(field: &str, name: &str, errors: &mut FieldErrors) {
    check_qualified(field, name, errors);
    if !name.contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        errors.invalid(field, name, detail);
    }
}

fn check_identifier(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.len() > MAX_IDENTIFIER {
        errors.too_long(field, MAX_IDENTIFIER as u64);
    }
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    let legal = name.starts_with(start) && name.chars().all(|c| start(c) || c.is_ascii_digit());
    if !legal {
        let detail = "a valid C identifier must start with alphabetic character or '_', followed by a string of \
                      alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for \
                      validation is '[A-Za-z_][A-Za-z0-9_]*')";
        errors.invalid(field, name, detail);
    }
}

/// Reports errors in the label key or condition type at `field`.
pub(crate) fn check_label_name(field: &str, name: &str, errors: &mut FieldErrors) {
    for problem in names::qualified_name(name) {
        errors.invalid(field, name, problem);
    }
}

/// Reports errors in the UUID at `field`.
pub(crate) fn check_uuid(field: &str, text: &str, errors: &mut FieldErrors) {
    const LENGTHS: [usize; 4] = [32, 36, 38, 45];
    let dashes = [8, 13, 18, 23];
    let plain = |(at, byte): (usize, u8)| match dashes.contains(&at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    if !LENGTHS.contains(&text.len()) {
        let detail = format!("error validating uid: invalid UUID length: {}", text.len());
        errors.invalid(field, text, detail);
    } else if text.len() == 36 && !text.bytes().enumerate().all(plain) {
        errors.invalid(field, text, "error validating uid: invalid UUID format");
    } else if text.len() != 36 || text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase \
                      hexadecimal characters";
        errors.invalid(field, text, detail);
    }
}

/// Renders a map key for field paths: the middle of a long key is omitted.
pub(crate) fn shortened(key: &str, max: usize) -> String {
    const GAP: &str = "...";
    if key.len() <= max {
        return key.to_owned();
    }
    let rest = max - GAP.len();
    let (head, tail) = (rest.div_ceil(2), key.len() - rest / 2);
    match (key.get(..head), key.get(tail..)) {
        (Some(head), Some(tail)) => format!("{head}{GAP}{tail}"),
        // The cut is inside of a multi-byte character, which no legal key contains.
        _ => quote(key),
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::field_error::FieldErrors;

    use super::*;

    fn complaints(check: fn(&str, &str, &mut FieldErrors), name: &str) -> usize {
        let mut errors = FieldErrors::default();
        check("f", name, &mut errors);
        errors.as_slice().len()
    }

    #[test]
    fn attributes_are_identifiers_with_or_without_a_domain() {
        for name in ["model", "_a1", "gpu.example.com/model"] {
            assert_eq!(complaints(check_qualified, name), 0, "{name}");
        }
        for name in ["", "1a", "a-b", "/model", "gpu.example.com/"] {
            assert_eq!(complaints(check_qualified, name), 1, "{name}");
        }
        assert_eq!(complaints(check_fully_qualified, "model"), 1);
        assert_eq!(complaints(check_fully_qualified, "a.b/model"), 0);
    }

    #[test]
    fn pools_are_subdomains_with_slashes_between_them() {
        assert_eq!(complaints(check_pool, "node-1/gpus"), 0);
        assert_eq!(complaints(check_pool, ""), 1);
        assert_eq!(complaints(check_pool, "a//b"), 1);
    }

    #[test]
    fn uuids_are_in_lower_case() {
        assert_eq!(complaints(check_uuid, "33333333-3333-3333-3333-33333333333a"), 0);
        assert_eq!(complaints(check_uuid, "33333333-3333-3333-3333-33333333333A"), 1);
        assert_eq!(complaints(check_uuid, "3333"), 1);
    }

    #[test]
    fn long_keys_lose_their_middle() {
        assert_eq!(shortened("abc", 16), "abc");
        assert_eq!(shortened("0123456789abcdefghij", 16), "0123456...efghij");
    }
}
