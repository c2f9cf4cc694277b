//! Permissions that a policy file grants (ABAC).
//!
//! The file has one policy per line, in JSON: a `Policy` of `abac.authorization.kubernetes.io/v1beta1`, or one of the older form
//! without a version. Blank lines and lines that start with `#` are skipped.

mod policy;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use thiserror::Error;

use self::policy::Policy;
use super::{Attributes, AuthorizationOutcome, Authorizer, Decision, PathRule, ResourceRule, Rules};
use crate::user::UserInfo;

/// The policies of a file, by their subjects.
#[derive(Debug, Default)]
pub struct PolicyList {
    policies: Vec<Policy>,
    /// The positions of the policies for one user.
    users: HashMap<String, Vec<usize>>,
    /// The positions of the policies for a group and any of its members.
    groups: HashMap<String, Vec<usize>>,
    /// The positions of the policies for all users.
    everyone: Vec<usize>,
}

/// A line of a policy file that is no policy.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("line {line}: {text}: {problem}")]
pub struct PolicyError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The text of the line.
    pub text: String,
    /// The reason.
    pub problem: String,
}

impl PolicyList {
    /// Reads the text of a policy file.
    ///
    /// # Errors
    ///
    /// The first line that is no policy.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let mut list = Self::default();
        let mut unversioned = 0;
        for (index, line) in text.lines().enumerate() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let read = Policy::parse(line).map_err(|problem| PolicyError {
                line: index + 1,
                text: line.to_owned(),
                problem,
            })?;
            unversioned += usize::from(read.is_unversioned);
            list.add(read.policy);
        }
        if unversioned > 0 {
            tracing::warn!(unversioned, "the policy file has policies without a version");
        }
        Ok(list)
    }

    fn add(&mut self, policy: Policy) {
        let position = self.policies.len();
        match (policy.user.as_str(), policy.group.as_str()) {
            ("" | "*", "" | "*") => self.everyone.push(position),
            ("" | "*", group) => self.groups.entry(group.to_owned()).or_default().push(position),
            (user, _) => self.users.entry(user.to_owned()).or_default().push(position),
        }
        self.policies.push(policy);
    }

    /// The policies that apply to a user, in the order of the file.
    fn of(&self, user: &UserInfo) -> Vec<&Policy> {
        let groups = user.groups.iter().filter_map(|group| self.groups.get(group));
        let all = self.users.get(&user.name).into_iter().chain(groups);
        let mut positions: Vec<usize> = all.chain([&self.everyone]).flatten().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        let policies = positions.into_iter().map(|position| &self.policies[position]);
        policies.filter(|policy| policy.is_for(user)).collect()
    }
}

impl Authorizer for PolicyList {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let mut policies = self.of(attributes.user).into_iter();
        match policies.any(|policy| policy.permits(attributes)) {
            true => AuthorizationOutcome::ALLOW,
            false => Decision::NoOpinion("No policy matched.".to_owned()).into(),
        }
    }

    fn rules(&self, user: &UserInfo, namespace: &str) -> Rules {
        let mut rules = Rules::default();
        let policies = self.of(user).into_iter();
        for policy in policies.filter(|policy| policy.is_in(namespace)) {
            if !policy.resource.is_empty() {
                rules.resources.push(ResourceRule {
                    verbs: policy.verbs(),
                    groups: vec![policy.api_group.clone()],
                    resources: vec![policy.resource.clone()],
                    names: Vec::new(),
                });
            }
            if !policy.non_resource_path.is_empty() {
                rules.paths.push(PathRule {
                    verbs: policy.verbs(),
                    paths: vec![policy.non_resource_path.clone()],
                });
            }
        }
        rules
    }
}
