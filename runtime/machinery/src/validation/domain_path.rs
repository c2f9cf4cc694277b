//! Domain-prefixed paths.

use planesmith_wire::names;

use crate::field_error::FieldErrors;

/// The characters of a URL path according to RFC 3986.
const PATH_FORMAT: &str = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+";

/// Reports text that is not a domain-prefixed path such as `example.com/name`.
pub fn check_domain_path(field: &str, text: &str, errors: &mut FieldErrors) {
    if text.is_empty() {
        return errors.required(field, "");
    }
    let (host, path) = match text.split_once('/') {
        Some((host, path)) if !host.is_empty() && !path.is_empty() => (host, path),
        _ => return errors.invalid(field, text, "must be a domain-prefixed path (such as \"acme.io/foo\")"),
    };
    for complaint in names::dns_subdomain(host) {
        errors.invalid(field, host, complaint);
    }
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
    if !path.bytes().all(legal) {
        let complaint = names::pattern_complaint("Invalid path", PATH_FORMAT, &[]);
        errors.invalid(field, path, complaint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_and_path_have_rules_of_their_own() {
        let check = |text: &str| {
            let mut errors = FieldErrors::default();
            check_domain_path("f", text, &mut errors);
            errors.joined().unwrap_or_default()
        };
        assert_eq!(check("acme.io/a/b~%"), "");
        assert_eq!(check(""), "f: Required value");
        for text in ["acme.io", "/a", "acme.io/"] {
            let expected = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            assert_eq!(check(text), format!("f: Invalid value: \"{text}\": {expected}"));
        }
        assert!(check("acme_/a").starts_with("f: Invalid value: \"acme_\": a lowercase RFC 1123 subdomain"));
        assert!(check("acme.io/a b").starts_with("f: Invalid value: \"a b\": Invalid path (regex"));
    }
}
