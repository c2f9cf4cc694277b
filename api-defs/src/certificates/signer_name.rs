//! Names of signers.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::names::{dns_label, dns_subdomain};

const MAX_DOMAIN: usize = 253;

/// Maximum length: a domain, a namespace, a name and their separators.
const MAX: usize = MAX_DOMAIN + 1 + 253 + 63 + 1;

/// Reports errors in the name of a signer, a domain and a path.
pub(crate) fn check(field: &str, name: &str, errors: &mut FieldErrors) {
    if name.is_empty() {
        errors.required(field, "");
        return;
    }
    let parts: Vec<&str> = name.split('/').collect();
    let &[domain, path] = parts.as_slice() else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        errors.invalid(field, name, detail);
        return;
    };
    if domain.len() > MAX_DOMAIN {
        errors.too_long(field, MAX_DOMAIN as u64);
    }
    check_labels(field, domain, dns_label, errors);
    if !domain.contains('.') {
        let detail = "should be a domain with at least two segments separated by dots";
        errors.invalid(field, domain, detail);
    }
    check_labels(field, path, dns_subdomain, errors);
    if name.len() > MAX {
        errors.too_long(field, MAX as u64);
    }
}

/// True if the signer's domain is kubernetes.io or a subdomain of it.
pub(crate) fn is_of_kubernetes(name: &str) -> bool {
    let (domain, _) = name.split_once('/').unwrap_or((name, ""));
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// Reports the first illegal label between dots.
fn check_labels(field: &str, text: &str, check: fn(&str) -> Vec<String>, errors: &mut FieldErrors) {
    let mut labels = text.split('.').map(|label| (label, check(label)));
    if let Some((label, complaints)) = labels.find(|(_, complaints)| !complaints.is_empty()) {
        for complaint in complaints {
            errors.invalid(field, text, format!("validating label {}: {complaint}", quote(label)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signers_have_a_domain_and_a_path() {
        let fields = |name: &str| {
            let mut errors = FieldErrors::default();
            check("signerName", name, &mut errors);
            errors.joined()
        };
        assert_eq!(fields("example.com/signer"), None);
        assert_eq!(
            fields("local/signer").as_deref(),
            Some(
                "signerName: Invalid value: \"local\": should be a domain with at least two segments separated by dots"
            )
        );
        assert!(fields("example.com/a/b").is_some());
        assert!(fields("exa_mple.com/a").is_some_and(|text| text.contains("validating label \"exa_mple\"")));
    }
}
