//! Authorizers without configuration.

use super::{Attributes, AuthorizationOutcome, Authorizer, Decision, Rules, Target};
use crate::user::{PRIVILEGED_GROUP, UserInfo};

/// Allows everything.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysAllow;

impl Authorizer for AlwaysAllow {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        AuthorizationOutcome::ALLOW
    }

    fn rules(&self, _: &UserInfo, _: &str) -> Rules {
        Rules::everything()
    }
}

/// Allows nothing.
#[derive(Clone, Copy, Debug)]
pub struct AlwaysDeny;

impl Authorizer for AlwaysDeny {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        Decision::NoOpinion("Everything is forbidden.".to_owned()).into()
    }
}

/// Allows members of `system:masters` everything.
#[derive(Clone, Copy, Debug)]
pub struct PrivilegedGroup;

impl Authorizer for PrivilegedGroup {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        if attributes.user.is_in(PRIVILEGED_GROUP) {
            AuthorizationOutcome::ALLOW
        } else {
            AuthorizationOutcome::NO_OPINION
        }
    }
}

/// Allows all users to access a list of non-resource paths.
#[derive(Clone, Debug)]
pub struct AllowedPaths {
    exact: Vec<String>,
    prefixes: Vec<String>,
}

impl AllowedPaths {
    /// Creates an authorizer of exact paths, and of prefixes that end in `*`. The leading slash is optional.
    #[must_use]
    pub fn new<'p>(paths: impl IntoIterator<Item = &'p str>) -> Self {
        let (mut exact, mut prefixes) = (Vec::new(), Vec::new());
        for path in paths {
            let path = path.trim_start_matches('/');
            match path.strip_suffix('*') {
                Some(prefix) => prefixes.push(prefix.to_owned()),
                None => exact.push(path.to_owned()),
            }
        }
        Self { exact, prefixes }
    }
}

impl Authorizer for AllowedPaths {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        if let Target::Path(path) = attributes.target {
            let path = path.trim_start_matches('/');
            if self.exact.iter().any(|exact| exact == path) || self.prefixes.iter().any(|start| path.starts_with(start))
            {
                return AuthorizationOutcome::ALLOW;
            }
        }
        AuthorizationOutcome::NO_OPINION
    }
}
