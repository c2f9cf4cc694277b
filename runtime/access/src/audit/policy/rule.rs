//! One rule of a policy.

use super::AuditDecision;
use crate::authorization::Target;
use crate::user::UserInfo;

/// One rule: a request matches if it matches every list that is not empty.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) users: Vec<String>,
    pub(super) groups: Vec<String>,
    pub(super) verbs: Vec<String>,
    pub(super) namespaces: Vec<String>,
    pub(super) resources: Vec<GroupResources>,
    pub(super) paths: Vec<String>,
    pub(super) decision: AuditDecision,
}

/// Resources of one API group.
#[derive(Clone, Debug)]
pub(super) struct GroupResources {
    pub(super) group: String,
    /// Resources, with subresources after a slash, and `*`; empty for all.
    pub(super) resources: Vec<String>,
    /// Names of objects; empty for all.
    pub(super) names: Vec<String>,
}

impl Rule {
    pub(super) fn matches(&self, user: Option<&UserInfo>, verb: &str, target: &Target<'_>) -> bool {
        let is_named = |user: &UserInfo| self.users.contains(&user.name);
        let is_member = |user: &UserInfo| user.groups.iter().any(|group| self.groups.contains(group));
        if !self.users.is_empty() && !user.is_some_and(is_named) {
            return false;
        }
        if !self.groups.is_empty() && !user.is_some_and(is_member) {
            return false;
        }
        if !self.verbs.is_empty() && !self.verbs.iter().any(|listed| listed == verb) {
            return false;
        }
        if !self.namespaces.is_empty() || !self.resources.is_empty() {
            return self.matches_resource(target);
        }
        if !self.paths.is_empty() {
            return match target {
                Target::Path(path) => self.paths.iter().any(|pattern| matches_path(pattern, path)),
                Target::Resource { .. } => false,
            };
        }
        true
    }

    fn matches_resource(&self, target: &Target<'_>) -> bool {
        let Target::Resource {
            group,
            resource,
            subresource,
            namespace,
            name,
            ..
        } = *target
        else {
            return false;
        };
        if !self.namespaces.is_empty() && !self.namespaces.iter().any(|listed| listed == namespace) {
            return false;
        }
        let of_group = self.resources.iter().filter(|listed| listed.group == group);
        self.resources.is_empty()
            || of_group
                .into_iter()
                .any(|listed| listed.matches(resource, subresource, name))
    }
}

impl GroupResources {
    fn matches(&self, resource: &str, subresource: &str, name: &str) -> bool {
        if self.resources.is_empty() {
            return true;
        }
        if !self.names.is_empty() && !self.names.iter().any(|listed| listed == name) {
            return false;
        }
        self.resources
            .iter()
            .any(|pattern| matches_resource(pattern, resource, subresource))
    }
}

/// True if a pattern names the resource: `*` every one, `pods` only pods, `pods/log` only that subresource, `pods/*` pods with
/// all of their subresources, `*/scale` that subresource of all.
fn matches_resource(pattern: &str, resource: &str, subresource: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    match pattern.split_once('/') {
        None => subresource.is_empty() && pattern == resource,
        Some(("*", below)) => !subresource.is_empty() && below == subresource,
        Some((of, "*")) => of == resource,
        Some((of, below)) => of == resource && below == subresource,
    }
}

fn matches_path(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => path.starts_with(start),
        None => path == pattern,
    }
}
