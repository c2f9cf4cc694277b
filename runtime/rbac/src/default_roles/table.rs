//! The tables of default roles and bindings.

use planesmith_control_plane::default_roles::DefaultRoles;
use planesmith_machinery::yaml;
use serde_json::Value;

/// The tables of one server.
#[derive(Debug)]
pub(super) struct Tables {
    /// Tables of cluster roles for people and for parts of a cluster.
    pub(super) cluster_roles: Vec<Value>,
    /// Tables of the subjects of cluster roles.
    pub(super) cluster_role_bindings: Vec<Value>,
    /// Tables of the cluster roles of controllers.
    pub(super) controller_roles: Vec<Value>,
    /// Tables of the roles of namespaces, and of their bindings.
    pub(super) namespaced_roles: Vec<Value>,
}

/// The roles of every server.
pub(crate) const BASIC: DefaultRoles = DefaultRoles {
    cluster_roles: include_str!("cluster_roles.yaml"),
    cluster_role_bindings: include_str!("cluster_role_bindings.yaml"),
    controller_roles: "",
    namespaced_roles: "",
};

impl Tables {
    /// Reads the tables of all components, in their order.
    pub(super) fn read(roles: &[DefaultRoles]) -> Self {
        let tables = |table: fn(&DefaultRoles) -> &'static str| roles.iter().map(|roles| read(table(roles))).collect();
        Self {
            cluster_roles: tables(|roles| roles.cluster_roles),
            cluster_role_bindings: tables(|roles| roles.cluster_role_bindings),
            controller_roles: tables(|roles| roles.controller_roles),
            namespaced_roles: tables(|roles| roles.namespaced_roles),
        }
    }
}

/// Reads a table, which is a part of the program: tests ensure that it is valid.
fn read(table: &str) -> Value {
    let document = yaml::to_json(table.as_bytes()).ok();
    document
        .and_then(|document| serde_json::from_slice(&document.json).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_read() {
        let tables = Tables::read(&[BASIC]);
        for table in tables.cluster_roles.iter().chain(&tables.cluster_role_bindings) {
            assert!(table.as_object().is_some_and(|table| !table.is_empty()));
        }
        assert_eq!(tables.controller_roles, [Value::Null]);
    }
}
