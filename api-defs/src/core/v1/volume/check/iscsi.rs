//! iSCSI names of initiators and targets.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::ISCSIVolumeSource;

/// Returns the start of the longest suffix of `name` without spaces and certain punctuation.
fn unique_part(name: &str) -> usize {
    let illegal = |c: char| matches!(c, ',' | ';' | '*' | '&' | '$' | '|') || c.is_ascii_whitespace();
    name.rfind(illegal).map_or(0, |at| at + 1)
}

/// True if `name` contains `iqn.YYYY-MM.domain`, followed by the end or by `:something` up to the end.
fn is_qualified(name: &str) -> bool {
    // Computed once instead of for each possible start, which keeps the check linear.
    let unique_part = unique_part(name);
    let mut domain_end = 0;
    name.match_indices("iqn.").any(|(at, found)| {
        let rest = &name[at + found.len()..];
        let date = rest.as_bytes().first_chunk::<8>();
        let dated = date.is_some_and(|date| {
            date.iter().enumerate().all(|(index, byte)| match index {
                4 => *byte == b'-',
                7 => *byte == b'.',
                _ => byte.is_ascii_digit(),
            })
        });
        if !dated {
            return false;
        }
        let domain = at + found.len() + 8;
        let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        if domain_end < domain {
            domain_end = name[domain..]
                .find(|c| !inner(c))
                .map_or(name.len(), |end| domain + end);
        }
        let unique = name[domain_end..].strip_prefix(':');
        domain_end > domain
            && unique.is_some_and(|unique| !unique.is_empty() && name.len() - unique.len() >= unique_part)
    })
}

/// True if `name` is a prefix of three characters, any character but a line break, and `length` letters and digits.
fn is_numbered(name: &str, length: usize) -> bool {
    let mut rest = name.chars().skip(3);
    rest.next().is_some_and(|sign| sign != '\n')
        && rest.clone().count() == length
        && rest.all(|c| c.is_ascii_alphanumeric())
}

/// Reports an iSCSI name that matches none of the three formats.
pub(crate) fn check_iscsi_name(field: &str, name: &str, unknown: &str, errors: &mut FieldErrors) {
    let fits = match name.get(..3) {
        Some("iqn") => is_qualified(name),
        Some("eui") => is_numbered(name, 16),
        Some("naa") => is_numbered(name, 32),
        _ => return errors.invalid(field, name, unknown),
    };
    if !fits {
        errors.invalid(field, name, "must be valid format");
    }
}

impl ISCSIVolumeSource {
    pub(super) fn check(&self, errors: &mut FieldErrors) {
        const UNKNOWN: &str = "must be valid format starting with iqn, eui, or naa";
        if self.target_portal.is_empty() {
            errors.required("targetPortal", "");
        }
        match self.iqn.as_str() {
            "" => errors.required("iqn", ""),
            iqn => check_iscsi_name("iqn", iqn, UNKNOWN, errors),
        }
        for problem in names::in_range(self.lun.into(), 0, 255) {
            errors.invalid("lun", self.lun, problem);
        }
        if (self.chap_auth_discovery || self.chap_auth_session) && self.secret_ref.is_none() {
            errors.required("secretRef", "");
        }
        if let Some(initiator) = &self.initiator_name {
            check_iscsi_name("initiatorname", initiator, UNKNOWN, errors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_read_once() {
        let began = std::time::Instant::now();
        for part in ["iqn.2015-02.", "iqn.2015-02.a:", "iqn.2015-02.a:b "] {
            assert!(!is_qualified(&format!("{} ", part.repeat(200_000))));
        }
        assert!(began.elapsed().as_secs() < 60);
    }

    #[test]
    fn names_have_one_of_three_formats() {
        let cases = [
            ("iqn.2015-02.example.com:test", ""),
            ("iqn.2015-02.example.com", "must be valid format"),
            ("iqn.2015-2.example.com:x", "must be valid format"),
            ("iqn.2015-02.example.com:a b", "must be valid format"),
            ("iqn.2015-02.a:b c iqn.2015-02.d:e", ""),
            ("iqn.2015-02.a:", "must be valid format"),
            ("eui.0123456789ABCDEF", ""),
            ("eui.0123456789ABCDE", "must be valid format"),
            ("naa.62004567BA64678D0123456789ABCDEF", ""),
            ("2015-02.example.com:test", "unknown"),
            ("iq", "unknown"),
        ];
        for (name, expected) in cases {
            let mut errors = FieldErrors::default();
            check_iscsi_name("iqn", name, "unknown", &mut errors);
            let found = errors.as_slice().first().map_or("", |error| &error.detail);
            assert_eq!(found, expected, "{name}");
        }
    }
}
