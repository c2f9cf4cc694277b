//! The default roles for Kubernetes' own kinds, for its controllers, its scheduler and its nodes.

use planesmith_control_plane::default_roles::DefaultRoles;

/// The tables, from the folder beside this file.
pub(crate) const DEFAULT_ROLES: DefaultRoles = DefaultRoles {
    cluster_roles: include_str!("default_roles/cluster_roles.yaml"),
    cluster_role_bindings: include_str!("default_roles/cluster_role_bindings.yaml"),
    controller_roles: include_str!("default_roles/controller_roles.yaml"),
    namespaced_roles: include_str!("default_roles/namespaced_roles.yaml"),
};

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use planesmith_control_plane::feature_gates::FeatureGates;
    use planesmith_machinery::yaml;
    use serde_json::{Map, Value};

    use super::*;

    fn table(text: &str) -> Map<String, Value> {
        let document = yaml::to_json(text.as_bytes()).expect("YAML");
        serde_json::from_slice(&document.json).expect("an object")
    }

    fn rows<'t>(table: &'t Map<String, Value>, key: &str) -> &'t Map<String, Value> {
        table[key].as_object().expect("rows by name")
    }

    /// Returns the rules of all roles, each with the name of its role.
    fn rules() -> Vec<(String, Value)> {
        let (cluster, namespaced) = (
            table(DEFAULT_ROLES.cluster_roles),
            table(DEFAULT_ROLES.namespaced_roles),
        );
        let controllers = table(DEFAULT_ROLES.controller_roles);
        let people = rows(&cluster, "roles").iter().map(|(name, row)| (name, &row["rules"]));
        let namespaces = rows(&namespaced, "roles").values();
        let namespaced = namespaces.flat_map(|roles| roles.as_object().expect("roles by name"));
        let all = people.chain(rows(&controllers, "roles")).chain(namespaced);
        let each = all.flat_map(|(name, rules)| {
            let rules = rules.as_array().into_iter().flatten();
            rules.map(move |rule| (name.clone(), rule.clone()))
        });
        each.collect()
    }

    #[test]
    fn lists_of_rules_are_sorted() {
        let rules = rules();
        assert!(rules.len() > 100);
        let gates = FeatureGates::default();
        for (role, rule) in &rules {
            for (field, list) in rule.as_object().expect("a rule") {
                if field == "gate" {
                    assert!(gates.all().any(|(name, _, _)| list == name), "{list} of {role}");
                    continue;
                }
                let list = list.as_array().expect("a list");
                let list: Vec<&str> = list.iter().map(|item| item.as_str().expect("a text")).collect();
                assert!(list.is_sorted(), "{field} of {role}: {list:?}");
            }
        }
    }

    #[test]
    fn bindings_refer_to_roles_of_the_tables_or_of_every_server() {
        let cluster = table(DEFAULT_ROLES.cluster_roles);
        let roles: BTreeSet<&String> = rows(&cluster, "roles").keys().collect();
        for role in table(DEFAULT_ROLES.cluster_role_bindings).keys() {
            assert!(roles.contains(role), "{role}");
        }
        let namespaced = table(DEFAULT_ROLES.namespaced_roles);
        for (namespace, bindings) in rows(&namespaced, "bindings") {
            for (name, binding) in bindings.as_object().expect("bindings by name") {
                let role = binding["role"].as_str().expect("a role");
                assert!(
                    rows(&namespaced, "roles")[namespace].get(role).is_some(),
                    "{namespace}/{name}"
                );
            }
        }
    }
}
