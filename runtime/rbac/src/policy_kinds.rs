//! The stored kinds in the form of a policy.

use planesmith_access::authorization::rbac::{Binding, Role, RoleKind, RoleRef, Rule, Subject, SubjectKind};
use planesmith_api_defs::rbac::v1;

/// The rule with all fields of the stored one.
pub(crate) fn rule(rule: &v1::PolicyRule) -> Rule {
    Rule {
        verbs: rule.verbs.clone(),
        groups: rule.api_groups.clone(),
        resources: rule.resources.clone(),
        names: rule.resource_names.clone(),
        paths: rule.non_resource_urls.clone(),
    }
}

pub(crate) fn rules(rules: &[v1::PolicyRule]) -> Vec<Rule> {
    rules.iter().map(rule).collect()
}

pub(crate) fn role(namespace: &str, name: &str, of: &[v1::PolicyRule]) -> Role {
    Role::new(namespace, name, rules(of))
}

pub(crate) fn binding(namespace: &str, name: &str, role: &v1::RoleRef, subjects: &[v1::Subject]) -> Binding {
    Binding {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        role: RoleRef {
            kind: RoleKind::from_name(&role.kind),
            name: role.name.clone(),
        },
        subjects: subjects.iter().filter_map(subject).collect(),
    }
}

/// `None` for a kind of subjects that does not exist: no user has it.
fn subject(subject: &v1::Subject) -> Option<Subject> {
    let kind = match subject.kind.as_str() {
        "User" => SubjectKind::User,
        "Group" => SubjectKind::Group,
        "ServiceAccount" => SubjectKind::ServiceAccount(subject.namespace.clone()),
        _ => return None,
    };
    let name = subject.name.clone();
    Some(Subject { kind, name })
}
