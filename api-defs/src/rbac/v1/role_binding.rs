//! Bindings of roles to subjects, for one namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Scope;
use planesmith_machinery::strategy::{Strategy, StrategyExtensions, UpdateStep, update_order};

use super::binding::{check, check_same_role, groups_cell, role_cell, service_accounts_cell, users_cell};
use super::{RoleRef, Subject};

/// Kinds of roles that the binding can refer to.
const ROLES: &[&str] = &["Role", "ClusterRole"];

/// Grants the permissions of a role in one namespace to users, groups and service accounts.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1",
    name_rule = whole_path_segment,
    create_on_update,
    strategy, strategy_extensions
)]
#[resource(
    column(name),
    column(name = "Role", type = "string", doc = "The granted role.", with = role_cell),
    column(age),
    column(name = "Users", type = "string", doc = "Users who receive the role.", priority = 1, with = users_cell),
    column(name = "Groups", type = "string", doc = "Groups that receive the role.", priority = 1, with = groups_cell),
    column(name = "ServiceAccounts", type = "string", doc = "Service accounts that receive the role.", priority = 1, with = service_accounts_cell)
)]
pub struct RoleBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Users, groups and service accounts that receive the permissions in this namespace.
    #[field(proto = 2, list_type = atomic)]
    pub subjects: Vec<Subject>,
    /// The role to grant: a Role of the namespace, or a ClusterRole, whose permissions are then limited to the
    /// namespace. Immutable.
    #[field(proto = 3, keep)]
    pub role_ref: RoleRef,
}

impl Strategy for RoleBinding {
    fn set_defaults(&mut self) {
        self.role_ref.set_defaults();
        for subject in &mut self.subjects {
            subject.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check(self, ROLES, Scope::Namespaced, errors);
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        check_same_role(self, old, errors);
    }
}

impl StrategyExtensions for RoleBinding {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::OBJECT_FIRST;
}
