//! The audit policy, which decides the requests to record, and the level.

mod file;
mod rule;

use std::fmt;

use self::file::PolicyFile;
use self::rule::Rule;
use super::{Level, Stages};
use crate::authorization::Target;
use crate::user::UserInfo;

/// An audit policy. The first rule that matches a request decides; requests that none matches are not recorded.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Vec<Rule>,
}

/// The amount of one request that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditDecision {
    /// The level of all events of the request.
    pub level: Level,
    /// The stages without an event.
    pub omitted_stages: Stages,
    /// True if recorded objects have no managed fields.
    pub omit_managed_fields: bool,
}

/// An invalid policy: its problems, each with its field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError(pub(super) String);

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PolicyError {}

impl Policy {
    /// Returns the policy in the content of a file (`audit.k8s.io/v1`, kind `Policy`).
    ///
    /// # Errors
    ///
    /// Another kind or version, an unknown or repeated field, an invalid rule, or no rules at all.
    pub fn parse(content: &[u8]) -> Result<Self, PolicyError> {
        PolicyFile::parse(content)?.policy()
    }

    /// Decides how much of a request is recorded; `user` is the authenticated one, before any impersonation, and `None` if
    /// its credentials were refused.
    #[must_use]
    pub fn decide(&self, user: Option<&UserInfo>, verb: &str, target: &Target<'_>) -> AuditDecision {
        let matching = self.rules.iter().find(|rule| rule.matches(user, verb, target));
        matching.map_or(AuditDecision::NOTHING, |rule| rule.decision)
    }
}

impl AuditDecision {
    /// The decision about a request that no rule matches.
    pub const NOTHING: AuditDecision = AuditDecision {
        level: Level::None,
        omitted_stages: Stages::NONE,
        omit_managed_fields: false,
    };
}

#[cfg(test)]
mod tests;
