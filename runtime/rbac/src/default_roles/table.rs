//! The tables of default roles and bindings, from the files beside this one.

use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::yaml;
use serde_json::Value;

/// The tables of one server.
#[derive(Debug)]
pub(super) struct Tables {
    /// Tables of cluster roles for people and for parts of a cluster.
    pub(super) cluster_roles: Vec<Value>,
    /// Tables of the subjects of cluster roles.
    pub(super) cluster_role_bindings: Vec<Value>,
    /// The cluster roles of controllers.
    pub(super) controller_roles: Value,
    /// The roles of namespaces, and their bindings.
    pub(super) namespaced_roles: Value,
}

impl Tables {
    /// The tables of a server with these kinds: those of every server, and those for Kubernetes' own kinds if it has them.
    pub(super) fn of(scheme: &Scheme) -> Self {
        let basic = Self {
            cluster_roles: vec![read(include_str!("basic_cluster_roles.yaml"))],
            cluster_role_bindings: vec![read(include_str!("basic_cluster_role_bindings.yaml"))],
            controller_roles: Value::Null,
            namespaced_roles: Value::Null,
        };
        match scheme.resource("", "v1", "pods") {
            Some(_) => basic.with_kubernetes(),
            None => basic,
        }
    }

    #[cfg(not(feature = "kubernetes"))]
    fn with_kubernetes(self) -> Self {
        self
    }

    #[cfg(feature = "kubernetes")]
    pub(super) fn with_kubernetes(mut self) -> Self {
        self.cluster_roles.push(read(include_str!("cluster_roles.yaml")));
        self.cluster_role_bindings
            .push(read(include_str!("cluster_role_bindings.yaml")));
        self.controller_roles = read(include_str!("controller_roles.yaml"));
        self.namespaced_roles = read(include_str!("namespaced_roles.yaml"));
        self
    }
}

/// Reads a table, which is part of the program: tests ensure that it is valid.
fn read(table: &str) -> Value {
    let document = yaml::to_json(table.as_bytes()).ok();
    document
        .and_then(|document| serde_json::from_slice(&document.json).ok())
        .unwrap_or_default()
}

#[cfg(all(test, feature = "kubernetes"))]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_read() {
        let tables = Tables::of(&Scheme::new()).with_kubernetes();
        let several = tables.cluster_roles.iter().chain(&tables.cluster_role_bindings);
        for table in several.chain([&tables.controller_roles, &tables.namespaced_roles]) {
            assert!(table.as_object().is_some_and(|table| !table.is_empty()));
        }
    }
}
