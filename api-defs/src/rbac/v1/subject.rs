//! Subjects that receive the permissions of a role.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;
use planesmith_machinery::resource::Scope;

use super::GROUP;

pub(in crate::rbac) const SERVICE_ACCOUNT: &str = "ServiceAccount";
pub(in crate::rbac) const USER: &str = "User";
pub(in crate::rbac) const GROUP_OF_USERS: &str = "Group";

/// A subject that receives permissions: a user, a group of users or a service account.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct Subject {
    /// Kind of the subject: User, Group or ServiceAccount.
    #[field(proto = 1, keep)]
    pub kind: String,
    /// API group of the kind: empty for service accounts, rbac.authorization.k8s.io for users and groups. These are the
    /// defaults.
    #[field(proto = 2)]
    pub api_group: String,
    /// Name of the user, group or service account.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Namespace of the service account. Empty for other kinds.
    #[field(proto = 4)]
    pub namespace: String,
}

impl Subject {
    pub(super) fn set_defaults(&mut self) {
        if self.api_group.is_empty() && [USER, GROUP_OF_USERS].contains(&self.kind.as_str()) {
            GROUP.clone_into(&mut self.api_group);
        }
    }

    pub(super) fn check(&self, scope: Scope, errors: &mut FieldErrors) {
        if self.name.is_empty() {
            errors.required("name", "");
        }
        match self.kind.as_str() {
            SERVICE_ACCOUNT => self.check_service_account(scope, errors),
            USER | GROUP_OF_USERS => {
                if self.api_group != GROUP {
                    errors.not_supported("apiGroup", &self.api_group, &[GROUP]);
                }
            }
            kind => errors.not_supported_in_order("kind", kind, &[SERVICE_ACCOUNT, USER, GROUP_OF_USERS]),
        }
    }

    fn check_service_account(&self, scope: Scope, errors: &mut FieldErrors) {
        if !self.name.is_empty() {
            for complaint in names::dns_subdomain(&self.name) {
                errors.invalid("name", &self.name, complaint);
            }
        }
        if !self.api_group.is_empty() {
            errors.not_supported("apiGroup", &self.api_group, &[""]);
        }
        if scope == Scope::Cluster && self.namespace.is_empty() {
            errors.required("namespace", "");
        }
    }
}
