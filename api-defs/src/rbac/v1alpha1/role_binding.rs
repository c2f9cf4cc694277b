//! Bindings of roles to subjects, for one namespace.

use planesmith_machinery::Resource;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::resource::Convert;
use planesmith_machinery::strategy::Strategy;

use super::Subject;
use super::subject::{check, from_hub, to_hub};
use crate::rbac::v1;
use crate::rbac::v1beta1::RoleRef;

/// Grants the permissions of a role in one namespace to users, groups and service accounts.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "rbac.authorization.k8s.io",
    version = "v1alpha1",
    name_rule = whole_path_segment,
    create_on_update,
    storage_version = v1::RoleBinding,
    convert,
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

    fn validate(&self, errors: &mut FieldErrors) {
        check(&self.subjects, errors);
    }
}

impl Convert<v1::RoleBinding> for RoleBinding {
    fn finish_to_hub(&self, hub: &mut v1::RoleBinding) {
        hub.subjects = to_hub(&self.subjects);
    }

    fn finish_from_hub(&mut self, hub: &v1::RoleBinding) {
        self.subjects = from_hub(&hub.subjects);
    }

    fn can_hold(hub: &v1::RoleBinding) -> bool {
        to_hub(&from_hub(&hub.subjects)) == hub.subjects
    }
}
