//! All roles and bindings, indexed by subject.

use std::sync::Arc;

use planesmith_machinery::go_format::quote;
use planesmith_machinery::sorting::sort_by;

use super::action::Action;
use super::binding::{Binding, Grant, RoleKind};
use super::role::Role;
use super::rule::Rule;
use super::sharded::{Key, Sharded};
use super::subject_grants::SubjectGrants;
use super::user_grants::KnownUsers;
use crate::user::UserInfo;

/// The group of the kinds in errors.
const GROUP: &str = "rbac.authorization.k8s.io";
/// The most problems that one answer lists.
pub(super) const LISTED_PROBLEMS: usize = 64;

/// All roles and bindings.
///
/// A decision looks up the user and each of their groups, in the whole cluster and in the namespace of the action. It depends
/// neither on the number of bindings nor on that of roles, and takes no lookup for a user whose grants are known from the latest
/// requests. A clone shares everything that is not changed afterwards.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    roles: Roles,
    bindings: Sharded<Binding>,
    subjects: Sharded<SubjectGrants>,
    /// Empty after each change.
    known: KnownUsers,
}

/// The roles, of all namespaces and of the whole cluster.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    by_name: Sharded<Role>,
    /// Grows with each change.
    epoch: u64,
}

impl Roles {
    /// The role of a binding; `None` if it does not exist.
    pub(super) fn get(&self, binding: &Binding) -> Option<&Arc<Role>> {
        self.by_name.get(binding.role.key(&binding.namespace)?)
    }

    /// The role of a binding.
    ///
    /// # Errors
    ///
    /// The role does not exist, in kube-apiserver's words.
    pub(super) fn of(&self, binding: &Binding) -> Result<&Role, String> {
        let role = &binding.role;
        match self.get(binding) {
            Some(role) => Ok(role),
            None => Err(match &role.kind {
                RoleKind::Role => format!("role.{GROUP} {} not found", quote(&role.name)),
                RoleKind::ClusterRole => format!("clusterrole.{GROUP} {} not found", quote(&role.name)),
                RoleKind::Other(kind) => format!("unsupported role reference kind: {}", quote(kind)),
            }),
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }
}

impl Policy {
    /// Adds a role, or replaces the one with the same name.
    pub fn set_role(&mut self, role: Role) {
        self.known = KnownUsers::default();
        self.roles.by_name.insert(Arc::new(role));
        self.roles.epoch += 1;
    }

    /// Removes a role; a ClusterRole if `namespace` is empty.
    pub fn remove_role(&mut self, namespace: &str, name: &str) {
        self.known = KnownUsers::default();
        self.roles.by_name.remove(Key::new(namespace, name));
        self.roles.epoch += 1;
    }

    /// Adds a binding, or replaces the one with the same name.
    pub fn set_binding(&mut self, binding: Binding) {
        // Whatever is known about users is forgotten, too.
        self.remove_binding(&binding.namespace, &binding.name);
        let binding = Arc::new(binding);
        for (index, subject) in binding.subjects.iter().enumerate() {
            let Some((name, is_group)) = subject.user_name(&binding.namespace) else {
                continue;
            };
            let key = Key {
                namespace: &binding.namespace,
                is_group,
                name: &name,
            };
            let grants = match self.subjects.get(key) {
                Some(grants) => grants.with(&binding, index),
                None => SubjectGrants::new(key).with(&binding, index),
            };
            self.subjects.insert(Arc::new(grants));
        }
        self.bindings.insert(binding);
    }

    /// Removes a binding; a ClusterRoleBinding if `namespace` is empty.
    pub fn remove_binding(&mut self, namespace: &str, name: &str) {
        self.known = KnownUsers::default();
        let Some(binding) = self.bindings.remove(Key::new(namespace, name)) else {
            return;
        };
        for subject in &binding.subjects {
            let Some((name, is_group)) = subject.user_name(&binding.namespace) else {
                continue;
            };
            let key = Key {
                namespace: &binding.namespace,
                is_group,
                name: &name,
            };
            let Some(grants) = self.subjects.get(key) else { continue };
            match grants.without(&binding) {
                Some(grants) => drop(self.subjects.insert(Arc::new(grants))),
                None => drop(self.subjects.remove(key)),
            }
        }
    }

    /// Returns the grant that permits the action to the user: of the whole cluster before those of the namespace.
    #[must_use]
    pub fn find(&self, user: &UserInfo, action: &Action<'_>) -> Option<Arc<Grant>> {
        let resolve = |namespace| {
            let mut grants = Vec::new();
            for subject in self.subjects_in(user, namespace) {
                SubjectGrants::resolve(subject, &self.roles, &mut grants);
            }
            grants
        };
        self.known.with(
            user,
            || resolve(""),
            |known| known.find(action, &self.roles, || resolve(action.namespace)),
        )
    }

    /// Returns why grants of the user have no effect in `namespace`: their roles do not exist. They are limited in number.
    #[must_use]
    pub fn problems(&self, user: &UserInfo, namespace: &str) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        for grants in self.subjects_of(user, namespace) {
            grants.visit_problems(&self.roles, |problem| {
                if problems.len() < LISTED_PROBLEMS && !problems.iter().any(|known| known == problem) {
                    problems.push(problem.to_owned());
                }
            });
        }
        problems
    }

    /// Returns the rules that a user has in `namespace`: those of the whole cluster first, by the names of their bindings.
    #[must_use]
    pub fn rules(&self, user: &UserInfo, namespace: &str) -> Vec<Rule> {
        let grants = self.grants(user, namespace);
        let roles = grants.iter().filter_map(|grant| self.roles.get(&grant.binding));
        roles.flat_map(|role| role.rules()).cloned().collect()
    }

    /// Returns the grants of a user in `namespace`: those of the whole cluster first, by the names of their bindings. Each
    /// binding is listed once.
    #[must_use]
    pub fn grants(&self, user: &UserInfo, namespace: &str) -> Vec<&Grant> {
        let mut grants: Vec<&Grant> = self
            .subjects_of(user, namespace)
            .flat_map(SubjectGrants::grants)
            .map(|grant| &**grant)
            .collect();
        let order = |grant: &&Grant| {
            (
                grant.binding.namespace.clone(),
                grant.binding.name.clone(),
                grant.subject,
            )
        };
        grants.sort_by_cached_key(order);
        grants.dedup_by(|later, first| Arc::ptr_eq(&later.binding, &first.binding));
        grants
    }

    /// Returns the rules of the role to which a binding in `namespace` refers.
    ///
    /// # Errors
    ///
    /// The role does not exist, in kube-apiserver's words.
    pub fn role_of(&self, binding: &Binding) -> Result<&Role, String> {
        self.roles.of(binding)
    }

    /// Returns all bindings: of the whole cluster, and then by namespace and name.
    pub(super) fn all_bindings(&self) -> Vec<&Arc<Binding>> {
        let mut bindings: Vec<&Arc<Binding>> = self.bindings.iter().collect();
        sort_by(&mut bindings, |one, other| {
            (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name))
        });
        bindings
    }

    /// Returns the grants of the user and of their groups: of the whole cluster, and of `namespace` unless it is empty.
    fn subjects_of<'p, 'q>(
        &'p self,
        user: &'q UserInfo,
        namespace: &'q str,
    ) -> impl Iterator<Item = &'p SubjectGrants> + use<'p, 'q> {
        let in_namespace = (!namespace.is_empty()).then_some(namespace);
        [Some(""), in_namespace]
            .into_iter()
            .flatten()
            .flat_map(move |namespace| self.subjects_in(user, namespace))
            .map(|grants| &**grants)
    }

    /// Returns the grants of the user and of their groups in one namespace, or in the whole cluster.
    fn subjects_in<'p, 'q>(
        &'p self,
        user: &'q UserInfo,
        namespace: &'q str,
    ) -> impl Iterator<Item = &'p Arc<SubjectGrants>> + use<'p, 'q> {
        let user_name = std::iter::once((false, &user.name));
        let names = user_name.chain(user.groups.iter().map(|group| (true, group)));
        names.filter_map(move |(is_group, name)| {
            self.subjects.get(Key {
                namespace,
                is_group,
                name,
            })
        })
    }
}
