//! References of bindings to their roles.

use planesmith_machinery::Struct;

use crate::rbac::v1::GROUP;

/// The role that a binding grants.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RoleRef {
    /// API group of the role.
    #[field(proto = 1, keep, optional)]
    pub api_group: String,
    /// Kind of the role: Role or ClusterRole.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the role.
    #[field(proto = 3, keep)]
    pub name: String,
}

impl RoleRef {
    /// Sets the default group.
    pub(in crate::rbac) fn set_defaults(&mut self) {
        if self.api_group.is_empty() {
            GROUP.clone_into(&mut self.api_group);
        }
    }
}
