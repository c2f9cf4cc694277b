//! Bindings of roles to subjects, for the whole cluster.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use super::Subject;
use super::subject::{check, from_hub, to_hub};
use crate::rbac::v1;
use crate::rbac::v1beta1::RoleRef;

/// Grants the permissions of a ClusterRole in the whole cluster to users, groups and service accounts.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1alpha1",
    cluster,
    name_rule = whole_path_segment,
    create_on_update,
    storage_version = v1::ClusterRoleBinding,
    convert,
    unserved,
    strategy
)]
pub struct ClusterRoleBinding {
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

impl Strategy for ClusterRoleBinding {
    fn set_defaults(&mut self) {
        self.role_ref.set_defaults();
        for subject in &mut self.subjects {
            subject.set_defaults();
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        check(&self.subjects, errors);
    }
}

impl Convert<v1::ClusterRoleBinding> for ClusterRoleBinding {
    fn finish_to_hub(&self, hub: &mut v1::ClusterRoleBinding) {
        hub.subjects = to_hub(&self.subjects);
    }

    fn finish_from_hub(&mut self, hub: &v1::ClusterRoleBinding) {
        self.subjects = from_hub(&hub.subjects);
    }

    fn can_hold(hub: &v1::ClusterRoleBinding) -> bool {
        to_hub(&from_hub(&hub.subjects)) == hub.subjects
    }
}
