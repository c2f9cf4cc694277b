//! Validation of Windows options.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use crate::core::v1::WindowsSecurityContextOptions;

/// Maximum size of a credential specification, in KiB.
const LONGEST_SPEC: usize = 64;
const LONGEST_DOMAIN: usize = 256;
const LONGEST_USER: usize = 104;

impl WindowsSecurityContextOptions {
    /// Reports errors in the options.
    pub(crate) fn check(&self, errors: &mut FieldErrors) {
        if let Some(name) = &self.gmsa_credential_spec_name {
            for problem in names::dns_subdomain(name) {
                errors.invalid("gmsaCredentialSpecName", name, problem);
            }
        }
        if let Some(spec) = &self.gmsa_credential_spec {
            if spec.is_empty() {
                let problem = "gmsaCredentialSpec cannot be an empty string";
                errors.invalid("gmsaCredentialSpec", spec, problem);
            } else if spec.len() > LONGEST_SPEC * 1024 {
                let problem = format!("gmsaCredentialSpec size must be under {LONGEST_SPEC} KiB");
                errors.invalid("gmsaCredentialSpec", spec, problem);
            }
        }
        if let Some(name) = &self.run_as_user_name {
            for problem in user_problems(name) {
                errors.invalid("runAsUserName", name, problem);
            }
        }
    }
}

/// Returns the errors in a user name of the form `DOMAIN\USER`, whose domain is optional.
fn user_problems(name: &str) -> Vec<String> {
    let only = |problem: &str| vec![problem.to_owned()];
    if name.is_empty() {
        return only("runAsUserName cannot be an empty string");
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return only("runAsUserName cannot contain control characters");
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return only("runAsUserName cannot contain more than one backslash"),
    };
    let mut problems = Vec::new();
    if let Some(domain) = domain {
        if domain.len() >= LONGEST_DOMAIN {
            problems.push(format!(
                "runAsUserName's Domain length must be under {LONGEST_DOMAIN} characters"
            ));
        }
        if !is_net_bios(domain) && !is_dns(domain) {
            problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format".to_owned());
        }
    }
    if user.is_empty() {
        problems.push("runAsUserName's User cannot be empty".to_owned());
    } else if user.len() > LONGEST_USER {
        problems.push(format!(
            "runAsUserName's User length must not be longer than {LONGEST_USER} characters"
        ));
    }
    if !user.is_empty() && user.chars().all(|c| matches!(c, '.' | ' ')) {
        problems.push("runAsUserName's User cannot contain only periods or spaces".to_owned());
    }
    if user.contains([
        '"', '/', '\\', ':', ';', '|', '=', ',', '+', '*', '?', '<', '>', '@', '[', ']',
    ]) {
        problems.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]".to_owned());
    }
    problems
}

/// True for 1 to 15 characters without certain punctuation and without a leading dot.
fn is_net_bios(domain: &str) -> bool {
    let illegal = ['\\', '/', ':', '*', '?', '"', '<', '>', '|'];
    (1..=15).contains(&domain.chars().count()) && !domain.starts_with('.') && !domain.contains(illegal)
}

/// True for labels of up to 63 letters, digits and inner dashes, joined by dots.
fn is_dns(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let inner = |c: char| c.is_ascii_alphanumeric() || c == '-';
        (1..=63).contains(&label.len()) && label.chars().all(inner) && !label.starts_with('-') && !label.ends_with('-')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_a_name_and_perhaps_a_domain() {
        let cases = [
            ("ContainerUser", ""),
            ("NT AUTHORITY\\LOCAL SERVICE", ""),
            ("example.com\\u", ""),
            ("", "runAsUserName cannot be an empty string"),
            ("a\tb", "runAsUserName cannot contain control characters"),
            ("a\\b\\c", "runAsUserName cannot contain more than one backslash"),
            (
                ".x?\\u",
                "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
            ),
            ("d\\", "runAsUserName's User cannot be empty"),
            ("..", "runAsUserName's User cannot contain only periods or spaces"),
        ];
        for (name, expected) in cases {
            let problems = user_problems(name);
            assert_eq!(problems.first().map_or("", String::as_str), expected, "{name:?}");
        }
    }
}
