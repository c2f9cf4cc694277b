//! Gives a role to subjects.

use std::fmt;
use std::sync::{Arc, OnceLock};

use planesmith_machinery::go_format::quote;

use super::sharded::{Key, Keyed};

/// A RoleBinding, or a ClusterRoleBinding if it has no namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The namespace in which the permissions count; empty for the whole cluster.
    pub namespace: String,
    /// The name of the binding.
    pub name: String,
    /// The role.
    pub role: RoleRef,
    /// The users, groups and service accounts that have the role.
    pub subjects: Vec<Subject>,
}

/// A reference to a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleRef {
    /// The kind of the role.
    pub kind: RoleKind,
    /// The name of the role. A Role is in the namespace of the binding.
    pub name: String,
}

/// A kind of roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleKind {
    /// Of one namespace.
    Role,
    /// Of the whole cluster.
    ClusterRole,
    /// A kind that does not exist: a stored binding may name anything.
    Other(String),
}

impl RoleKind {
    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        match name {
            "Role" => Self::Role,
            "ClusterRole" => Self::ClusterRole,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name of the kind.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Role => "Role",
            Self::ClusterRole => "ClusterRole",
            Self::Other(name) => name,
        }
    }
}

/// A user, group or service account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The kind of the subject.
    pub kind: SubjectKind,
    /// Its name.
    pub name: String,
}

/// A kind of subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// The user of this name.
    User,
    /// All users in the group of this name.
    Group,
    /// The service account of this name in a namespace; empty for the namespace of the binding.
    ServiceAccount(String),
}

impl RoleRef {
    /// The key of the role, for a binding in `namespace`; `None` for a kind that does not exist.
    pub(super) fn key<'a>(&'a self, namespace: &'a str) -> Option<Key<'a>> {
        match &self.kind {
            RoleKind::Role => Some(Key::new(namespace, &self.name)),
            RoleKind::ClusterRole => Some(Key::new("", &self.name)),
            RoleKind::Other(_) => None,
        }
    }
}

impl Subject {
    /// The namespace of a service account in a binding of `namespace`.
    fn account_namespace<'a>(&'a self, namespace: &'a str) -> Option<&'a str> {
        match &self.kind {
            SubjectKind::User | SubjectKind::Group => None,
            SubjectKind::ServiceAccount(own) if own.is_empty() => Some(namespace),
            SubjectKind::ServiceAccount(own) => Some(own),
        }
    }

    /// Returns the name under which users have this subject in a binding of `namespace`, and if it is that of a group. `None` for
    /// a service account without a namespace.
    pub(super) fn user_name(&self, namespace: &str) -> Option<(String, bool)> {
        match self.account_namespace(namespace) {
            None => Some((self.name.clone(), self.kind == SubjectKind::Group)),
            Some("") => None,
            Some(own) => Some((format!("system:serviceaccount:{own}:{}", self.name), false)),
        }
    }

    /// Renders the subject, in a binding of `namespace`, as kube-apiserver does.
    #[must_use]
    pub fn description(&self, namespace: &str) -> String {
        match (&self.kind, self.account_namespace(namespace)) {
            (_, Some(own)) => format!("ServiceAccount {}", quote(&format!("{}/{own}", self.name))),
            (SubjectKind::Group, _) => format!("Group {}", quote(&self.name)),
            _ => format!("User {}", quote(&self.name)),
        }
    }
}

impl Binding {
    /// Renders the binding, its role and the subject with this index.
    fn grant_to(&self, subject: usize) -> String {
        let Self {
            namespace,
            name,
            role,
            subjects,
        } = self;
        let binding = match namespace.as_str() {
            "" => format!("ClusterRoleBinding {}", quote(name)),
            namespace => format!("RoleBinding {}", quote(&format!("{name}/{namespace}"))),
        };
        let subject = subjects.get(subject).map(|subject| subject.description(namespace));
        let to = subject.map(|subject| format!(" to {subject}")).unwrap_or_default();
        format!("{binding} of {} {}{to}", role.kind.as_str(), quote(&role.name))
    }
}

impl Keyed for Binding {
    fn key(&self) -> Key<'_> {
        Key::new(&self.namespace, &self.name)
    }
}

/// The role that one subject has by a binding.
#[derive(Clone, Debug)]
pub struct Grant {
    pub(super) binding: Arc<Binding>,
    /// The index of the subject.
    pub(super) subject: usize,
    /// Its text, once a decision was recorded with it: the same few grants decide most requests.
    text: OnceLock<Box<str>>,
}

impl Grant {
    pub(super) fn new(binding: Arc<Binding>, subject: usize) -> Self {
        Self {
            binding,
            subject,
            text: OnceLock::new(),
        }
    }

    /// The binding.
    #[must_use]
    pub fn binding(&self) -> &Binding {
        &self.binding
    }
}

/// The binding, its role and the subject, as kube-apiserver writes them into reasons.
impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.get_or_init(|| self.binding.grant_to(self.subject).into()))
    }
}
