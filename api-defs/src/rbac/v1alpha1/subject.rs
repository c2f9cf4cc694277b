//! Subjects that receive the permissions of a role.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::group_version::GroupVersion;

use crate::rbac::v1;
use crate::rbac::v1::{GROUP, GROUP_OF_USERS, SERVICE_ACCOUNT, USER};

/// API version of users and groups.
const API_VERSION: &str = "rbac.authorization.k8s.io/v1alpha1";

/// Group of all authenticated users.
const AUTHENTICATED: &str = "system:authenticated";

/// A subject that receives permissions: a user, a group of users or a service account.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct Subject {
    /// Kind of the subject: User, Group or ServiceAccount.
    #[field(proto = 1, keep)]
    pub kind: String,
    /// API version of the kind: v1 for service accounts.
    #[field(proto = 2)]
    pub api_version: String,
    /// Name of the user, group or service account. A user named * stands for all authenticated users.
    #[field(proto = 3, keep)]
    pub name: String,
    /// Namespace of the service account.
    #[field(proto = 4)]
    pub namespace: String,
}

/// Reports subjects that are not in the canonical form of this version, which the storage version cannot represent.
pub(super) fn check(subjects: &[Subject], errors: &mut FieldErrors) {
    for (index, subject) in subjects.iter().enumerate() {
        let errors = &mut *errors.at_index("subjects", index);
        let version = match subject.kind.as_str() {
            SERVICE_ACCOUNT => "v1",
            USER | GROUP_OF_USERS => API_VERSION,
            kind => {
                errors.not_supported_in_order("kind", kind, &[SERVICE_ACCOUNT, USER, GROUP_OF_USERS]);
                continue;
            }
        };
        if subject.api_version != version {
            errors.not_supported("apiVersion", &subject.api_version, &[version]);
        }
        if subject.is_everybody() {
            errors.invalid("name", &subject.name, "name the group system:authenticated instead");
        }
    }
}

/// Converts the subjects to the storage version.
pub(super) fn to_hub(subjects: &[Subject]) -> Vec<v1::Subject> {
    subjects.iter().map(Subject::to_hub).collect()
}

/// Converts the subjects from the storage version.
pub(super) fn from_hub(subjects: &[v1::Subject]) -> Vec<Subject> {
    subjects.iter().map(Subject::from_hub).collect()
}

impl Subject {
    pub(super) fn set_defaults(&mut self) {
        if self.api_version.is_empty() {
            match self.kind.as_str() {
                SERVICE_ACCOUNT => "v1".clone_into(&mut self.api_version),
                USER | GROUP_OF_USERS => API_VERSION.clone_into(&mut self.api_version),
                _ => {}
            }
        }
    }

    fn to_hub(&self) -> v1::Subject {
        let group = match self.kind.as_str() {
            SERVICE_ACCOUNT => String::new(),
            USER | GROUP_OF_USERS => GROUP.to_owned(),
            _ => GroupVersion::parse(&self.api_version)
                .map_or_else(|_| String::new(), |parsed| parsed.group.into_owned()),
        };
        let (kind, name) = match self.is_everybody() {
            true => (GROUP_OF_USERS, AUTHENTICATED),
            false => (self.kind.as_str(), self.name.as_str()),
        };
        v1::Subject {
            kind: kind.to_owned(),
            api_group: group,
            name: name.to_owned(),
            namespace: self.namespace.clone(),
        }
    }

    /// True if the subject is the former notation for all authenticated users.
    fn is_everybody(&self) -> bool {
        self.kind == USER && self.name == "*"
    }

    fn from_hub(hub: &v1::Subject) -> Self {
        let api_version = match (hub.kind.as_str(), hub.api_group.as_str()) {
            (SERVICE_ACCOUNT, "") => "v1".to_owned(),
            (USER | GROUP_OF_USERS, GROUP) => API_VERSION.to_owned(),
            (_, "") => String::new(),
            // A group without a version.
            (_, group) => format!("{group}/"),
        };
        Subject {
            kind: hub.kind.clone(),
            api_version,
            name: hub.name.clone(),
            namespace: hub.namespace.clone(),
        }
    }
}
