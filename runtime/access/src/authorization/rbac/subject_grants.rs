//! The roles of one subject in one namespace, or in the whole cluster.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::action::Action;
use super::binding::{Binding, Grant};
use super::permissions::Permissions;
use super::policy::{LISTED_PROBLEMS, Roles};
use super::sharded::{Key, Keyed};
use super::user_grants::ResolvedGrant;

/// The number of roles up to which each is looked at. The permissions of more are merged.
const VISITED_ROLES: usize = 16;

/// The roles of one subject, by the names of their bindings.
#[derive(Debug)]
pub(super) struct SubjectGrants {
    namespace: String,
    is_group: bool,
    name: String,
    grants: Vec<Arc<Grant>>,
    /// The permissions of all roles, made for the first decision after a change. Only for many roles.
    merged: ArcSwapOption<Merged>,
}

/// The permissions of many roles.
#[derive(Debug)]
struct Merged {
    /// The state of the roles from which it was made.
    epoch: u64,
    permissions: Permissions,
    /// The reasons for which roles cannot be used.
    problems: Vec<String>,
}

impl SubjectGrants {
    pub(super) fn new(key: Key<'_>) -> Self {
        Self {
            namespace: key.namespace.to_owned(),
            is_group: key.is_group,
            name: key.name.to_owned(),
            grants: Vec::new(),
            merged: ArcSwapOption::empty(),
        }
    }

    pub(super) fn grants(&self) -> &[Arc<Grant>] {
        &self.grants
    }

    /// The same roles, and that of one more binding.
    pub(super) fn with(&self, binding: &Arc<Binding>, subject: usize) -> Self {
        let mut grants = self.grants.clone();
        // A subject may be listed twice.
        if let Err(index) = grants.binary_search_by(|grant| grant.binding.name.cmp(&binding.name)) {
            let binding = Arc::clone(binding);
            grants.insert(index, Arc::new(Grant::new(binding, subject)));
        }
        self.of(grants)
    }

    /// The same roles without that of `binding`; `None` if none is left.
    pub(super) fn without(&self, binding: &Binding) -> Option<Self> {
        let mut grants = self.grants.clone();
        grants.retain(|grant| grant.binding.name != binding.name);
        (!grants.is_empty()).then(|| self.of(grants))
    }

    fn of(&self, grants: Vec<Arc<Grant>>) -> Self {
        Self {
            grants,
            ..Self::new(self.key())
        }
    }

    /// Adds the grants whose roles exist to `resolved`, in order.
    pub(super) fn resolve(subject: &Arc<Self>, roles: &Roles, resolved: &mut Vec<ResolvedGrant>) {
        if subject.grants.len() > VISITED_ROLES {
            return resolved.push(ResolvedGrant::Many(Arc::clone(subject)));
        }
        let each = subject.grants.iter().filter_map(|grant| {
            let role = roles.get(&grant.binding)?;
            Some(ResolvedGrant::One(Arc::clone(grant), Arc::clone(role)))
        });
        resolved.extend(each);
    }

    /// Returns the first grant whose role permits the action, by the merged permissions of all roles.
    pub(super) fn find_merged(&self, action: &Action<'_>, roles: &Roles) -> Option<&Arc<Grant>> {
        let owner = self.merged(roles).permissions.find(action)?;
        self.grants.get(owner as usize)
    }

    /// Calls `visit` with the reason of each grant whose role does not exist.
    pub(super) fn visit_problems(&self, roles: &Roles, mut visit: impl FnMut(&str)) {
        if self.grants.len() > VISITED_ROLES {
            return self.merged(roles).problems.iter().for_each(|problem| visit(problem));
        }
        for grant in &self.grants {
            if let Err(problem) = roles.of(&grant.binding) {
                visit(&problem);
            }
        }
    }

    /// The merged permissions of the current roles.
    fn merged(&self, roles: &Roles) -> Arc<Merged> {
        let known = self.merged.load_full();
        known
            .filter(|merged| merged.epoch == roles.epoch())
            .unwrap_or_else(|| self.merge(roles))
    }

    fn merge(&self, roles: &Roles) -> Arc<Merged> {
        let mut problems = Vec::new();
        let mut rules = Vec::new();
        for (owner, grant) in (0..).zip(&self.grants) {
            match roles.of(&grant.binding) {
                Ok(role) => rules.extend(role.rules().iter().map(|rule| (owner, rule))),
                Err(problem) if problems.len() < LISTED_PROBLEMS && !problems.contains(&problem) => {
                    problems.push(problem)
                }
                Err(_) => {}
            }
        }
        let merged = Arc::new(Merged {
            epoch: roles.epoch(),
            permissions: Permissions::of(rules.into_iter()),
            problems,
        });
        self.merged.store(Some(Arc::clone(&merged)));
        merged
    }
}

impl Keyed for SubjectGrants {
    fn key(&self) -> Key<'_> {
        Key {
            namespace: &self.namespace,
            is_group: self.is_group,
            name: &self.name,
        }
    }
}
