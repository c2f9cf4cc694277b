//! The roles and bindings of a server, read over its API.

use anyhow::{Context as _, Result};
use http::Method;
use planesmith_access::authorization::rbac::{Binding, Policy, Role, RoleKind, RoleRef, Rule, Subject, SubjectKind};
use serde_json::Value;

use crate::delegation::Host;
use crate::resource_client::text;

const ROOT: &str = "/apis/rbac.authorization.k8s.io/v1";

/// Reads all roles and bindings.
pub(super) async fn read(host: &Host) -> Result<Policy> {
    let mut policy = Policy::default();
    for resource in ["clusterroles", "roles"] {
        for role in list(host, resource).await? {
            let rules = role["rules"].as_array().into_iter().flatten().map(rule).collect();
            let (namespace, name) = names(&role);
            policy.set_role(Role::new(namespace, name, rules));
        }
    }
    for resource in ["clusterrolebindings", "rolebindings"] {
        for binding in list(host, resource).await? {
            let (namespace, name) = names(&binding);
            policy.set_binding(Binding {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
                role: RoleRef {
                    kind: RoleKind::from_name(text(&binding, "/roleRef/kind")),
                    name: text(&binding, "/roleRef/name").to_owned(),
                },
                subjects: binding["subjects"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(subject)
                    .collect(),
            });
        }
    }
    Ok(policy)
}

async fn list(host: &Host, resource: &str) -> Result<Vec<Value>> {
    let mut items = Vec::new();
    let mut next = String::new();
    loop {
        let path = format!("{ROOT}/{resource}?limit=500&continue={next}");
        let answer = host.send(Method::GET, &path, None).await;
        let mut page = answer
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("{resource} cannot be read"))?;
        text(&page, "/metadata/continue").clone_into(&mut next);
        if let Value::Array(more) = page["items"].take() {
            items.extend(more);
        }
        if next.is_empty() {
            return Ok(items);
        }
    }
}

fn names(object: &Value) -> (&str, &str) {
    (text(object, "/metadata/namespace"), text(object, "/metadata/name"))
}

fn rule(document: &Value) -> Rule {
    let texts = |member: &str| {
        let list = document[member].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Rule {
        verbs: texts("verbs"),
        groups: texts("apiGroups"),
        resources: texts("resources"),
        names: texts("resourceNames"),
        paths: texts("nonResourceURLs"),
    }
}

fn subject(document: &Value) -> Option<Subject> {
    let kind = match text(document, "/kind") {
        "User" => SubjectKind::User,
        "Group" => SubjectKind::Group,
        "ServiceAccount" => SubjectKind::ServiceAccount(text(document, "/namespace").to_owned()),
        _ => return None,
    };
    let name = text(document, "/name").to_owned();
    Some(Subject { kind, name })
}
