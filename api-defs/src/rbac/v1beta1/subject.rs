//! Subjects that receive the permissions of a role.

use planesmith_machinery::Struct;

use crate::rbac::v1::{GROUP, GROUP_OF_USERS, USER};

/// A subject that receives permissions: a user, a group of users or a service account.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Subject {
    /// Kind of the subject: User, Group or ServiceAccount.
    #[field(proto = 1, keep)]
    pub kind: String,
    /// API group of the kind.
    #[field(proto = 2)]
    pub api_group: String,
    /// Name of the user, group or service account.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Namespace of the service account.
    #[field(proto = 4)]
    pub namespace: String,
}

impl Subject {
    pub(super) fn set_defaults(&mut self) {
        if self.api_group.is_empty() && [USER, GROUP_OF_USERS].contains(&self.kind.as_str()) {
            GROUP.clone_into(&mut self.api_group);
        }
    }
}
