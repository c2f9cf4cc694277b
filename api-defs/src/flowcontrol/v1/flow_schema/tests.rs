use serde_json::{Value, json};

use super::*;

fn messages(name: &str, spec: &Value) -> Vec<String> {
    let mut schema: FlowSchema = serde_json::from_value(json!({
        "apiVersion": "flowcontrol.apiserver.k8s.io/v1", "kind": "FlowSchema", "metadata": {"name": name}, "spec": spec,
    }))
    .expect("a schema");
    schema.set_defaults();
    let mut errors = FieldErrors::default();
    schema.validate(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

#[test]
fn mandatory_schemas_are_legal_and_fixed() {
    for name in ["exempt", "catch-all"] {
        let spec = FlowSchemaSpec::mandatory(name).expect("a mandatory schema");
        let mut spec = serde_json::to_value(spec).expect("JSON");
        assert_eq!(messages(name, &spec), Vec::<String>::new());
        spec["matchingPrecedence"] = 77.into();
        let messages = messages(name, &spec);
        assert!(messages[0].ends_with("must equal the fixed value"), "{messages:?}");
    }
}

#[test]
fn subjects_are_of_their_kind_only() {
    let rule = |subject: Value| {
        json!({
            "priorityLevelConfiguration": {"name": "p"},
            "rules": [{"subjects": [subject], "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a/*"]}]}],
        })
    };
    let both = rule(json!({"kind": "User", "user": {"name": "u"}, "group": {"name": "g"}}));
    assert_eq!(
        messages("s", &both),
        ["spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"]
    );
    let nobody = rule(json!({"kind": "Group", "group": {"name": ""}}));
    assert_eq!(
        messages("s", &nobody),
        ["spec.rules[0].subjects[0].group.name: Required value"]
    );
}

#[test]
fn a_star_stands_alone() {
    let spec = json!({
        "priorityLevelConfiguration": {"name": "p"},
        "rules": [{
            "subjects": [{"kind": "User", "user": {"name": "*"}}],
            "resourceRules": [{
                "verbs": ["*", "get"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["Bad"],
            }],
        }],
    });
    let fields: Vec<String> = messages("s", &spec);
    assert!(fields[0].starts_with("spec.rules[0].resourceRules[0].verbs: Invalid value: [\"*\",\"get\"]: if '*'"));
    assert!(fields[1].contains("namespaces[0]: Invalid value: \"Bad\": each member of this list must be '*'"));
}

#[test]
fn a_status_says_nothing_about_metadata() {
    let old = FlowSchema::default();
    let mut new = old.clone();
    new.metadata.labels.insert("a".to_owned(), "b".to_owned());
    new.prepare_for_status_update(&Context::default(), &old);
    assert!(new.metadata.labels.is_empty());
}
