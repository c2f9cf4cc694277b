//! Annotations that the author of a pod passes to the signer.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

/// Maximum total size of keys and values in bytes.
const MAX: usize = 256 * 1024;

/// Reports keys without a domain prefix, and annotations that exceed the size limit.
pub(crate) fn check(field: &str, annotations: &BTreeMap<String, String>, errors: &mut FieldErrors) {
    for key in annotations.keys() {
        let key = key.to_lowercase();
        if key.is_empty() {
            errors.required(field, "");
            continue;
        }
        let complaints = names::qualified_name(&key);
        if complaints.is_empty() && !key.contains('/') {
            let complaint = "must be a domain-prefixed key (such as \"acme.io/foo\")";
            errors.invalid(field, &key, complaint);
        }
        for complaint in complaints {
            errors.invalid(field, &key, complaint);
        }
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    if size > MAX {
        errors.too_long(field, MAX as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_domain() {
        let complaint = |key: &str, value: &str| {
            let mut errors = FieldErrors::default();
            let annotations = BTreeMap::from([(key.to_owned(), value.to_owned())]);
            check("a", &annotations, &mut errors);
            errors.joined().unwrap_or_default()
        };
        assert_eq!(complaint("Example.com/Key", "v"), "");
        assert_eq!(complaint("", "v"), "a: Required value");
        assert_eq!(
            complaint("Key", "v"),
            "a: Invalid value: \"key\": must be a domain-prefixed key (such as \"acme.io/foo\")"
        );
        assert!(complaint("a/b/c", "v").starts_with("a: Invalid value: \"a/b/c\": "));
        let long = "v".repeat(MAX);
        assert_eq!(
            complaint("example.com/k", &long),
            "a: Too long: may not be more than 262144 bytes"
        );
    }
}
