//! Senders of requests.

use planesmith_machinery::Struct;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::names;

const SERVICE_ACCOUNT: &str = "ServiceAccount";
const USER: &str = "User";
const GROUP: &str = "Group";

/// A sender of requests. Only the field that kind names is set.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(union)]
pub struct Subject {
    /// Kind of the subject: User, Group or ServiceAccount.
    #[field(proto = 1, keep, discriminator, go_type = "SubjectKind")]
    pub kind: String,
    /// A user.
    #[field(proto = 2)]
    pub user: Option<UserSubject>,
    /// A group of users.
    #[field(proto = 3)]
    pub group: Option<GroupSubject>,
    /// A service account.
    #[field(proto = 4)]
    pub service_account: Option<ServiceAccountSubject>,
}

/// A user.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct UserSubject {
    /// Name of the user; * stands for all users.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// A group of users.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct GroupSubject {
    /// Name of the group; * stands for all groups.
    #[field(proto = 1, keep)]
    pub name: String,
}

/// A service account.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ServiceAccountSubject {
    /// Namespace of the service account.
    #[field(proto = 1, keep)]
    pub namespace: String,
    /// Name of the service account; * stands for all accounts of the namespace.
    #[field(proto = 2, keep)]
    pub name: String,
}

impl Subject {
    /// Returns a subject for the users of a group.
    pub(super) fn group(name: &str) -> Self {
        Self {
            kind: GROUP.to_owned(),
            group: Some(GroupSubject { name: name.to_owned() }),
            ..Self::default()
        }
    }

    pub(super) fn check(&self, errors: &mut FieldErrors) {
        let user = self.user.as_ref().map(|user| &user.name);
        let group = self.group.as_ref().map(|group| &group.name);
        match self.kind.as_str() {
            SERVICE_ACCOUNT => match &self.service_account {
                None => errors.required(
                    "serviceAccount",
                    "serviceAccount is required when subject kind is 'ServiceAccount'",
                ),
                Some(account) => account.check(&mut errors.at("serviceAccount")),
            },
            USER => check_named("user", USER, user, errors),
            GROUP => check_named("group", GROUP, group, errors),
            kind => {
                errors.not_supported("kind", kind, &[SERVICE_ACCOUNT, USER, GROUP]);
                return;
            }
        }
        for (field, kind, set) in [
            ("serviceAccount", SERVICE_ACCOUNT, self.service_account.is_some()),
            ("user", USER, user.is_some()),
            ("group", GROUP, group.is_some()),
        ] {
            if set && kind != self.kind {
                errors.forbidden(field, format!("{field} is forbidden when subject kind is not '{kind}'"));
            }
        }
    }
}

impl ServiceAccountSubject {
    fn check(&self, errors: &mut FieldErrors) {
        match self.name.as_str() {
            "" => errors.required("name", ""),
            "*" => {}
            name => {
                for complaint in names::dns_subdomain(name) {
                    errors.invalid("name", name, complaint);
                }
            }
        }
        match self.namespace.as_str() {
            "" => errors.required("namespace", "must specify namespace for service account"),
            namespace => {
                for complaint in names::dns_label(namespace) {
                    errors.invalid("namespace", namespace, complaint);
                }
            }
        }
    }
}

fn check_named(field: &str, kind: &str, name: Option<&String>, errors: &mut FieldErrors) {
    match name {
        None => errors.required(field, format!("{field} is required when subject kind is '{kind}'")),
        Some(name) if name.is_empty() => errors.at(field).required("name", ""),
        Some(_) => {}
    }
}
