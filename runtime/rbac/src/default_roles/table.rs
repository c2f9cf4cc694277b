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

/// The reason that tables cannot be used, which is a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TableError {
    /// A table is no document.
    #[error("a table of {table} cannot be read: {reason}; it begins with {first_line:?}")]
    Unreadable {
        /// The field of [`DefaultRoles`].
        table: &'static str,
        /// The problem.
        reason: String,
        /// The first line.
        first_line: &'static str,
    },
    /// Two tables have a row of the same name.
    #[error("two components have {name} in their {table}; give one of them another name")]
    Repeated {
        /// The field of [`DefaultRoles`].
        table: &'static str,
        /// The name, with the namespace if there is one.
        name: String,
    },
}

impl Tables {
    /// Reads the tables of all components, in their order, for a server whose features `is_on` tells.
    ///
    /// # Errors
    ///
    /// A table cannot be read, or two of them have the same role or binding.
    pub(super) fn read(roles: &[DefaultRoles], is_on: &dyn Fn(&str) -> bool) -> Result<Self, TableError> {
        let tables = |name, table: fn(&DefaultRoles) -> &'static str| {
            let tables = roles.iter().map(|roles| {
                let mut table = read(name, table(roles))?;
                remove_gated(&mut table, is_on);
                Ok(table)
            });
            tables.collect::<Result<Vec<_>, _>>()
        };
        let tables = Self {
            cluster_roles: tables("cluster_roles", |roles| roles.cluster_roles)?,
            cluster_role_bindings: tables("cluster_role_bindings", |roles| roles.cluster_role_bindings)?,
            controller_roles: tables("controller_roles", |roles| roles.controller_roles)?,
            namespaced_roles: tables("namespaced_roles", |roles| roles.namespaced_roles)?,
        };
        tables.check_names()?;
        Ok(tables)
    }

    fn check_names(&self) -> Result<(), TableError> {
        let names = |tables: &[Value], key: &str| tables.iter().flat_map(|table| keys(&table[key])).collect();
        unique("cluster_roles", names(&self.cluster_roles, "roles"))?;
        unique("controller_roles", names(&self.controller_roles, "roles"))?;
        let bindings = self.cluster_role_bindings.iter().flat_map(keys);
        unique("cluster_role_bindings", bindings.collect())?;
        for key in ["roles", "bindings"] {
            let namespaces = self.namespaced_roles.iter().filter_map(|table| table[key].as_object());
            let names = namespaces.flatten().flat_map(|(namespace, rows)| {
                let names = keys(rows).into_iter();
                names.map(move |name| format!("{namespace}/{name}"))
            });
            unique("namespaced_roles", names.collect())?;
        }
        Ok(())
    }
}

fn keys(rows: &Value) -> Vec<String> {
    let rows = rows.as_object().into_iter().flatten();
    rows.map(|(name, _)| name.clone()).collect()
}

fn unique(table: &'static str, mut names: Vec<String>) -> Result<(), TableError> {
    names.sort_unstable();
    let repeated = names.windows(2).find(|pair| pair[0] == pair[1]);
    repeated.map_or(Ok(()), |pair| {
        Err(TableError::Repeated {
            table,
            name: pair[0].clone(),
        })
    })
}

/// Reads a table, which may be empty.
fn read(name: &'static str, table: &'static str) -> Result<Value, TableError> {
    if table.trim().is_empty() {
        return Ok(Value::Null);
    }
    let unreadable = |reason: String| TableError::Unreadable {
        table: name,
        reason,
        first_line: table.lines().next().unwrap_or_default(),
    };
    let document = yaml::to_json(table.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
    let table: Value = serde_json::from_slice(&document.json).map_err(|error| unreadable(error.to_string()))?;
    match table.is_object() || table.is_null() {
        true => Ok(table),
        false => Err(unreadable("it is no map".to_owned())),
    }
}

/// Removes the rules and subjects whose feature is off, and the roles and bindings that have no others. Returns true if nothing is
/// left of `value`.
fn remove_gated(value: &mut Value, is_on: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::Array(items) => {
            let was_empty = items.is_empty();
            items.retain_mut(|item| {
                let gate = item.as_object_mut().and_then(|item| item.remove("gate"));
                gate.as_ref().and_then(Value::as_str).is_none_or(is_on)
            });
            !was_empty && items.is_empty()
        }
        Value::Object(members) => {
            let was_empty = members.is_empty();
            members.retain(|_, member| !remove_gated(member, is_on));
            !was_empty && members.is_empty()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_there_while_their_feature_is_on() {
        let rule = json!({"verbs": ["get"]});
        let gated = json!({"gate": "A", "verbs": ["list"]});
        let table = json!({"none": [], "some": [rule, gated], "gated": {"rules": [gated]}});
        let with = |on: bool| {
            let mut table = table.clone();
            assert!(!remove_gated(&mut table, &|gate| gate == "A" && on));
            table
        };
        assert_eq!(with(false), json!({"none": [], "some": [rule]}));
        let shown = json!({"verbs": ["list"]});
        assert_eq!(
            with(true),
            json!({"none": [], "some": [rule, shown], "gated": {"rules": [shown]}})
        );
    }

    #[test]
    fn tables_can_be_read() {
        let tables = Tables::read(&[BASIC], &|_| true).unwrap();
        for table in tables.cluster_roles.iter().chain(&tables.cluster_role_bindings) {
            assert!(table.as_object().is_some_and(|table| !table.is_empty()));
        }
        assert_eq!(tables.controller_roles, [Value::Null]);
    }

    #[test]
    fn a_table_that_cannot_be_read_and_a_repeated_name_are_refused() {
        let roles = |cluster_roles, namespaced_roles| DefaultRoles {
            cluster_roles,
            namespaced_roles,
            ..DefaultRoles::default()
        };
        let error = |tables: &[DefaultRoles]| Tables::read(tables, &|_| true).unwrap_err().to_string();
        let unreadable = error(&[roles("roles: [", "")]);
        assert!(
            unreadable.starts_with("a table of cluster_roles cannot be read: "),
            "{unreadable}"
        );
        assert!(error(&[roles("- a\n", "")]).contains("it is no map"));
        let one = roles("roles: {a: {rules: []}}\n", "roles: {one: {b: []}, two: {c: []}}\n");
        let other = roles("roles: {b: {rules: []}}\n", "roles: {one: {c: []}, two: {b: []}}\n");
        assert!(Tables::read(&[one, other, DefaultRoles::default()], &|_| true).is_ok());
        assert_eq!(
            error(&[one, roles("roles: {b: {}, a: {}}\n", "")]),
            "two components have a in their cluster_roles; give one of them another name"
        );
        assert_eq!(
            error(&[one, roles("", "roles: {two: {c: []}}\n")]),
            "two components have two/c in their namespaced_roles; give one of them another name"
        );
    }
}
