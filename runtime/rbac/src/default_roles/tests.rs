use std::collections::BTreeSet;

use planesmith_machinery::scheme::Scheme;

use super::*;

fn names(objects: &[Value]) -> BTreeSet<&str> {
    objects.iter().map(|object| text(object, "/metadata/name")).collect()
}

#[test]
fn bindings_refer_to_roles_that_are_made() {
    let tables = Tables::of(&Scheme::new()).with_kubernetes();
    let (roles, bindings) = (wanted_cluster_roles(&tables), wanted_cluster_role_bindings(&tables));
    let roles = names(&roles);
    assert!(
        bindings
            .iter()
            .all(|binding| roles.contains(text(binding, "/roleRef/name")))
    );
    let table = &tables.namespaced_roles;
    let (roles, bindings) = (wanted_roles(table), wanted_role_bindings(table));
    let roles = names(&roles);
    assert!(
        bindings
            .iter()
            .all(|binding| roles.contains(text(binding, "/roleRef/name")))
    );
}

#[test]
fn lists_of_rules_are_sorted() {
    let tables = Tables::of(&Scheme::new()).with_kubernetes();
    let mut roles = wanted_cluster_roles(&tables);
    roles.extend(wanted_roles(&tables.namespaced_roles));
    for role in &roles {
        for rule in roles::list(role, "rules") {
            for (field, list) in rule.as_object().unwrap() {
                let list: Vec<&str> = list
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|item| item.as_str().unwrap())
                    .collect();
                assert!(
                    list.is_sorted(),
                    "{field} of {}: {list:?}",
                    text(role, "/metadata/name")
                );
            }
        }
    }
}

#[test]
fn a_role_that_allows_as_much_is_left_alone() {
    let wanted = rules_of(
        "edit",
        json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods/log"]}]),
    );
    for enough in [
        json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*/log"]}]),
        json!([{"verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["pods", "pods/log"]}]),
    ] {
        assert_eq!(roles::completed(&rules_of("edit", enough), &wanted), None);
    }
}

#[test]
fn what_a_role_lacks_is_added_and_the_rest_is_kept() {
    let wanted = rules_of(
        "r",
        json!([{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}]),
    );
    let kept = json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods", "secrets"]});
    let complete = roles::completed(&rules_of("r", json!([kept])), &wanted).unwrap();
    let added = json!({"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]});
    assert_eq!(complete["rules"], json!([kept, added]));

    let named = json!([{"verbs": ["*"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}]);
    let complete = roles::completed(&rules_of("r", named), &wanted).unwrap();
    assert_eq!(complete["rules"].as_array().unwrap().len(), 3);
}

#[test]
fn subjects_that_were_added_stay() {
    let wanted = binding("", "b", "ClusterRole", "b", &json!([{"kind": "User", "name": "u"}]));
    let mut stored = wanted.clone();
    assert_eq!(bindings::completed(&stored, &wanted), None);
    stored["subjects"] = json!([{"kind": "Group", "apiGroup": GROUP, "name": "g"}]);
    let complete = bindings::completed(&stored, &wanted).unwrap();
    assert_eq!(complete["subjects"].as_array().unwrap().len(), 2);
}

fn rules_of(name: &str, rules: Value) -> Value {
    let mut role = object("ClusterRole", "", name);
    role["rules"] = rules;
    role
}

#[test]
fn a_role_that_should_not_aggregate_does_not() {
    let wanted = rules_of(
        "r",
        json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]),
    );
    let mut stored = wanted.clone();
    stored["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]});
    assert_eq!(roles::completed(&stored, &wanted), Some(wanted));
}
