use super::*;

/// Tables of a component with one role of each kind.
const TABLES: DefaultRoles = DefaultRoles {
    cluster_roles: "roles: {clerk: {labels: {a: b}, rules: [{verbs: [get], apiGroups: [''], resources: [orders]}]}}",
    cluster_role_bindings: "clerk: [{kind: Group, name: clerks}]",
    controller_roles: "roles: {restock: [{verbs: [list], apiGroups: [''], resources: [products]}]}",
    namespaced_roles: "{roles: {ns: {reader: []}}, bindings: {ns: {readers: {role: reader, subjects: []}}}}",
};

#[test]
fn every_component_adds_its_roles_and_bindings() {
    let tables = Tables::read(&[BASIC, DefaultRoles::default(), TABLES], &|_| true).unwrap();
    let names = |objects: &[Value]| -> Vec<String> {
        let names = objects.iter().map(|object| text(object, "/metadata/name").to_owned());
        names.collect()
    };
    let roles = names(&wanted_cluster_roles(&tables));
    assert!(roles.contains(&"cluster-admin".to_owned()) && roles.contains(&"clerk".to_owned()));
    assert_eq!(roles.last().map(String::as_str), Some("system:controller:restock"));
    let bindings = wanted_cluster_role_bindings(&tables);
    assert!(names(&bindings).iter().all(|binding| roles.contains(binding)));
    let account = &bindings.last().expect("of the controller")["subjects"][0];
    assert_eq!(
        (&account["kind"], &account["name"]),
        (&json!("ServiceAccount"), &json!("restock"))
    );
    assert_eq!(names(&wanted_roles(&tables)), ["reader"]);
    assert_eq!(wanted_role_bindings(&tables)[0]["roleRef"]["name"], "reader");
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
fn missing_rules_are_added_to_a_role_and_others_stay() {
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
