//! Bindings of roles to subjects, for one namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use super::{RoleRef, Subject};
use crate::rbac::v1;

/// Grants the permissions of a role in one namespace to users, groups and service accounts.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1beta1",
    name_rule = whole_path_segment,
    create_on_update,
    storage_version = v1::RoleBinding,
    unserved,
    strategy
)]
pub struct RoleBinding {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Subjects that receive the permissions.
    #[field(proto = 2, list_type = atomic)]
    pub subjects: Vec<Subject>,
    /// The role to grant. Immutable.
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
}
