use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions as _};
use serde_json::{Value, json};

use super::*;

fn binding(subjects: &Value) -> RoleBinding {
    let mut binding: RoleBinding = serde_json::from_value(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "b"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": subjects,
    }))
    .expect("a binding");
    binding.set_defaults();
    binding
}

#[test]
fn groups_of_roles_and_subjects_are_known() {
    let binding = binding(&json!([{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s"}]));
    assert_eq!(binding.role_ref.api_group, GROUP);
    assert_eq!(binding.subjects[0].api_group, GROUP);
    assert_eq!(binding.subjects[1].api_group, "");
    let mut errors = FieldErrors::default();
    binding.validate(&mut errors);
    assert_eq!(errors.joined(), None);
}

#[test]
fn service_accounts_need_a_namespace_in_the_whole_cluster() {
    let binding = ClusterRoleBinding {
        subjects: binding(&json!([{"kind": "ServiceAccount", "name": "s"}])).subjects,
        role_ref: RoleRef {
            api_group: GROUP.to_owned(),
            kind: "ClusterRole".to_owned(),
            name: "c".to_owned(),
        },
        ..ClusterRoleBinding::default()
    };
    let mut errors = FieldErrors::default();
    binding.validate(&mut errors);
    assert_eq!(
        errors.joined().as_deref(),
        Some("subjects[0].namespace: Required value")
    );
}

#[test]
fn the_role_stays() {
    let old = binding(&json!([]));
    let mut new = old.clone();
    new.role_ref.name = "other".to_owned();
    let mut errors = FieldErrors::default();
    new.validate_update(&old, &mut errors);
    assert_eq!(
        errors.joined().as_deref(),
        Some(
            "roleRef: Invalid value: {\"APIGroup\":\"rbac.authorization.k8s.io\",\"Kind\":\"Role\",\"Name\":\"other\"}: \
             cannot change roleRef"
        )
    );
}

#[test]
fn aggregation_selects_something() {
    let role = |selectors: Value| -> ClusterRole {
        let rule = serde_json::from_value(json!({"clusterRoleSelectors": selectors})).expect("a rule");
        ClusterRole {
            aggregation_rule: Some(rule),
            ..ClusterRole::default()
        }
    };
    let mut errors = FieldErrors::default();
    role(json!([])).validate(&mut errors);
    assert_eq!(
        errors.joined().as_deref(),
        Some(
            "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if \
             aggregationRule is non-nil"
        )
    );
    let stored = role(json!([{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]}]));
    let mut errors = FieldErrors::default();
    stored.validate_replacement(&stored, &mut errors);
    let fields: Vec<_> = errors.as_slice().iter().map(|error| error.field.as_str()).collect();
    assert_eq!(fields, ["aggregationRule.clusterRoleSelectors[0]"]);
}

#[test]
fn starts_of_generated_names_are_checked_like_names() {
    let kinds: [Box<dyn planesmith_machinery::object::Object>; 4] = [
        Box::new(Role::default()),
        Box::new(ClusterRole::default()),
        Box::new(RoleBinding::default()),
        Box::new(ClusterRoleBinding::default()),
    ];
    for mut object in kinds {
        "a".clone_into(&mut object.meta_mut().name);
        "..".clone_into(&mut object.meta_mut().generate_name);
        let errors = planesmith_machinery::validation::check_create(&*object, &Context::default());
        let first = errors.as_slice().first().map(|error| error.message());
        let expected = "metadata.generateName: Invalid value: \"..\": may not be '..'";
        assert_eq!(first.as_deref(), Some(expected));
    }
}
