//! Modes of authorization.

use std::fmt;
use std::path::Path;

use clap::ValueEnum;

/// A mode of authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum AuthorizationMode {
    /// Nodes may do what their pods need.
    #[value(name = "Node")]
    Node,
    /// Users have the roles that bindings give them.
    #[value(name = "RBAC")]
    Rbac,
    /// Users have the permissions of a policy file.
    #[value(name = "ABAC")]
    Abac,
    /// Another server decides.
    #[value(name = "Webhook")]
    Webhook,
    /// Every authenticated user may do everything.
    #[value(name = "AlwaysAllow")]
    AlwaysAllow,
    /// No user may do anything; for tests.
    #[value(name = "AlwaysDeny")]
    AlwaysDeny,
}

impl AuthorizationMode {
    /// The name of the mode, as in the flag.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::Rbac => "RBAC",
            Self::Abac => "ABAC",
            Self::Webhook => "Webhook",
            Self::AlwaysAllow => "AlwaysAllow",
            Self::AlwaysDeny => "AlwaysDeny",
        }
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
    if modes.contains(&AuthorizationMode::Abac) && policy_file.is_none() {
        return Err("--authorization-mode has ABAC; it needs --authorization-policy-file".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_abac_needs_its_file() {
        use AuthorizationMode::{Abac, Rbac};
        let file = Some(Path::new("policies.jsonl"));
        assert_eq!(check(&[Abac, Rbac], file), Ok(()));
        assert_eq!(check(&[Rbac], None), Ok(()));
        assert!(
            check(&[Abac], None)
                .unwrap_err()
                .contains("needs --authorization-policy-file")
        );
        assert!(check(&[Rbac, Rbac], None).unwrap_err().contains("more than once"));
    }
}
