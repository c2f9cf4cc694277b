//! Parts that both kinds of bindings share.

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::table::Cell;

use super::subject::{GROUP_OF_USERS, SERVICE_ACCOUNT, USER};
use super::{ClusterRoleBinding, RoleBinding, RoleRef, Subject};

/// A binding of either kind.
pub(super) trait Binding {
    /// The subjects that receive the role.
    fn subjects(&self) -> &[Subject];
    /// The role that the binding grants.
    fn role_ref(&self) -> &RoleRef;
}

impl Binding for RoleBinding {
    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn role_ref(&self) -> &RoleRef {
        &self.role_ref
    }
}

impl Binding for ClusterRoleBinding {
    fn subjects(&self) -> &[Subject] {
        &self.subjects
    }

    fn role_ref(&self) -> &RoleRef {
        &self.role_ref
    }
}

/// Reports errors in a binding that can grant roles of `kinds`.
pub(super) fn check(binding: &impl Binding, kinds: &[&str], scope: Scope, errors: &mut FieldErrors) {
    binding.role_ref().check(kinds, &mut errors.at("roleRef"));
    for (index, subject) in binding.subjects().iter().enumerate() {
        subject.check(scope, &mut errors.at_index("subjects", index));
    }
}

/// Reports a change of the role. Otherwise users who can change the subjects could grant any role.
pub(super) fn check_same_role<B: Binding>(binding: &B, old: &B, errors: &mut FieldErrors) {
    if binding.role_ref() != old.role_ref() {
        errors.invalid("roleRef", GoValue(binding.role_ref()), "cannot change roleRef");
    }
}

/// Renders the role as kind and name.
pub(super) fn role_cell(binding: &impl Binding) -> Cell {
    let role = binding.role_ref();
    Cell::Text(format!("{}/{}", role.kind, role.name))
}

/// Renders the users.
pub(super) fn users_cell(binding: &impl Binding) -> Cell {
    names(binding, USER)
}

/// Renders the groups.
pub(super) fn groups_cell(binding: &impl Binding) -> Cell {
    names(binding, GROUP_OF_USERS)
}

/// Renders the service accounts as namespace and name.
pub(super) fn service_accounts_cell(binding: &impl Binding) -> Cell {
    joined(binding, SERVICE_ACCOUNT, |subject| {
        format!("{}/{}", subject.namespace, subject.name)
    })
}

fn names(binding: &impl Binding, kind: &str) -> Cell {
    joined(binding, kind, |subject| subject.name.clone())
}

fn joined(binding: &impl Binding, kind: &str, text: impl Fn(&Subject) -> String) -> Cell {
    let subjects = binding.subjects().iter().filter(|subject| subject.kind == kind);
    Cell::Text(subjects.map(text).collect::<Vec<_>>().join(", "))
}
