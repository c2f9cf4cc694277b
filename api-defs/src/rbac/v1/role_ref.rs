//! References of bindings to their roles.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

use super::GROUP;

/// The role that a binding grants.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(atomic)]
pub struct RoleRef {
    /// API group of the role: rbac.authorization.k8s.io, the default.
    #[field(proto = 1, keep, optional)]
    pub api_group: String,
    /// Kind of the referenced role: Role, in the same namespace, or ClusterRole.
    #[field(proto = 2, keep)]
    pub kind: String,
    /// Name of the role.
    #[field(proto = 3, keep)]
    pub name: String,
}

impl RoleRef {
    pub(super) fn set_defaults(&mut self) {
        if self.api_group.is_empty() {
            GROUP.clone_into(&mut self.api_group);
        }
    }

    pub(super) fn check(&self, kinds: &[&str], errors: &mut FieldErrors) {
        if self.api_group != GROUP {
            errors.not_supported("apiGroup", &self.api_group, &[GROUP]);
        }
        if !kinds.contains(&self.kind.as_str()) {
            errors.not_supported_in_order("kind", &self.kind, kinds);
        }
        if self.name.is_empty() {
            errors.required("name", "");
        }
        for complaint in names::path_segment(&self.name) {
            errors.invalid("name", &self.name, complaint);
        }
    }
}
