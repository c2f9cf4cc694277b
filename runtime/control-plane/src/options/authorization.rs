//! Modes of authorization.

use std::fmt;
use std::path::Path;

use super::named_value::NamedValue;

/// A mode of authorization: one of Kubernetes', or one of a component, which declares it as a constant.
/// A component that has a mode of Kubernetes uses the constant here: modes of one name with other texts are others, and flags name
/// the one of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AuthorizationMode {
    name: &'static str,
    help: &'static str,
}

impl AuthorizationMode {
    /// Nodes have the permissions that their pods need.
    pub const NODE: Self = Self::new("Node", "Nodes may do what their pods need");
    /// Users have the roles that bindings give them.
    pub const RBAC: Self = Self::new("RBAC", "Users have the roles that bindings give them");
    /// Users have the permissions of a policy file.
    pub const ABAC: Self = Self::new("ABAC", "Users have the permissions of a policy file");
    /// Another server decides.
    pub const WEBHOOK: Self = Self::new("Webhook", "Another server decides");
    /// Every authenticated user may do everything.
    pub const ALWAYS_ALLOW: Self = Self::new("AlwaysAllow", "Every authenticated user may do everything");
    /// No user may do anything; for tests.
    pub const ALWAYS_DENY: Self = Self::new("AlwaysDeny", "No user may do anything; for tests");

    /// The modes of Kubernetes, in the order in which they are consulted by default.
    pub const KUBERNETES: [Self; 6] = [
        Self::NODE,
        Self::RBAC,
        Self::ABAC,
        Self::WEBHOOK,
        Self::ALWAYS_ALLOW,
        Self::ALWAYS_DENY,
    ];

    /// A mode called `name` in flags and files; `help` explains it in `--help`.
    #[must_use]
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help }
    }

    /// The name of the mode, as in the flag.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.name
    }
}

impl NamedValue for AuthorizationMode {
    fn name(self) -> &'static str {
        self.name
    }

    fn help(self) -> &'static str {
        self.help
    }
}

impl fmt::Display for AuthorizationMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Checks the modes of the flag.
///
/// # Errors
///
/// A mode is named twice, or ABAC has no policy file.
pub(super) fn check(modes: &[AuthorizationMode], policy_file: Option<&Path>) -> Result<(), String> {
    for (index, mode) in modes.iter().enumerate() {
        if modes[..index].contains(mode) {
            return Err(format!("--authorization-mode has {mode} more than once"));
        }
    }
    if modes.contains(&AuthorizationMode::ABAC) && policy_file.is_none() {
        return Err("--authorization-mode has ABAC; it needs --authorization-policy-file".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_abac_needs_its_file() {
        let (abac, rbac) = (AuthorizationMode::ABAC, AuthorizationMode::RBAC);
        let file = Some(Path::new("policies.jsonl"));
        assert_eq!(check(&[abac, rbac], file), Ok(()));
        assert_eq!(check(&[rbac], None), Ok(()));
        assert!(
            check(&[abac], None)
                .unwrap_err()
                .contains("needs --authorization-policy-file")
        );
        assert!(check(&[rbac, rbac], None).unwrap_err().contains("more than once"));
    }
}
