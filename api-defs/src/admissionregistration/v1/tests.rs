use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::object::Resource;
use planesmith_machinery::strategy::{Strategy as _, StrategyExtensions as _};
use serde_json::{Value, json};

use super::*;

fn read<R: Resource + serde::de::DeserializeOwned>(kind: &str, content: &Value) -> R {
    let mut object = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": "n"}});
    if let (Value::Object(object), Value::Object(content)) = (&mut object, content) {
        object.extend(content.clone());
    }
    let mut object: R = serde_json::from_value(object).expect("an object of the kind");
    object.set_defaults();
    object
}

fn messages(check: impl FnOnce(&mut FieldErrors)) -> Vec<String> {
    let mut errors = FieldErrors::default();
    check(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

fn webhooks(webhooks: &Value) -> ValidatingWebhookConfiguration {
    read("ValidatingWebhookConfiguration", &json!({"webhooks": webhooks}))
}

#[test]
fn webhooks_get_what_they_do_not_say() {
    let configuration = webhooks(&json!([{
        "name": "a.example.com",
        "clientConfig": {"service": {"namespace": "n", "name": "s"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }]));
    let webhook = &configuration.webhooks[0];
    assert_eq!(webhook.failure_policy.as_deref(), Some("Fail"));
    assert_eq!(webhook.rules[0].rule.scope.as_deref(), Some("*"));
    assert_eq!(webhook.timeout_seconds, Some(10));
    assert_eq!(messages(|errors| configuration.validate(errors)), Vec::<String>::new());
}

#[test]
fn stored_webhooks_may_stay_as_they_were() {
    let old = webhooks(&json!([
        {"name": "a.example.com", "clientConfig": {"url": "https://a"}, "sideEffects": "Some",
         "admissionReviewVersions": ["v7"], "matchConditions": [{"name": "", "expression": ""}]},
        {"name": "a.example.com", "clientConfig": {"url": "https://a"}, "sideEffects": "Unknown",
         "admissionReviewVersions": ["v1"]},
    ]));
    assert_eq!(messages(|errors| old.validate(errors)).len(), 6);
    assert_eq!(
        messages(|errors| old.validate_replacement(&old, errors)),
        Vec::<String>::new()
    );
}

fn policy(spec: &Value) -> MutatingAdmissionPolicy {
    let mut whole = json!({
        "matchConstraints": {"resourceRules": [
            {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]},
        ]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {
            "expression": "[JSONPatch{op: 'remove', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b')}]",
        }}],
        "reinvocationPolicy": "Never",
    });
    if let (Value::Object(whole), Value::Object(spec)) = (&mut whole, spec) {
        whole.extend(spec.clone());
    }
    read("MutatingAdmissionPolicy", &json!({"spec": whole}))
}

#[test]
fn mutations_are_of_their_type_only() {
    let policy = policy(&json!({"mutations": [
        {"patchType": "JSONPatch", "applyConfiguration": {"expression": "Object{}"}},
        {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": " "}},
        {},
    ]}));
    assert_eq!(
        messages(|errors| policy.validate(errors)),
        [
            "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
            "spec.mutations[0].applyConfiguration: Invalid value: \"{applyConfiguration}\": must not be specified when \
             patchType is JSONPatch",
            "spec.mutations[1].applyConfiguration.expression: Required value",
            "spec.mutations[2].patchType: Required value",
        ]
    );
}

#[test]
fn deleted_objects_are_not_changed() {
    let policy = policy(&json!({"matchConstraints": {"resourceRules": [
        {"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]},
    ]}}));
    assert_eq!(
        messages(|errors| policy.validate(errors)),
        [
            "spec.matchConstraints.resourceRules.operations: Unsupported value: \"DELETE\": supported values: \"*\", \
             \"CONNECT\", \"CREATE\", \"UPDATE\""
        ]
    );
}

#[test]
fn kinds_of_parameters_have_a_version() {
    let check = |version: &str, kind: &str| {
        let kind = ParamKind {
            api_version: version.to_owned(),
            kind: kind.to_owned(),
        };
        messages(|errors| kind.check(errors))
    };
    assert_eq!(check("v1", "ConfigMap"), Vec::<String>::new());
    assert_eq!(check("example.com/v1", "Limit"), Vec::<String>::new());
    assert_eq!(
        check("example.com/", "Limit"),
        ["apiVersion: Invalid value: \"example.com/\": version must be specified"]
    );
    assert_eq!(
        check("a/b/c", "Limit"),
        ["apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"]
    );
    assert!(check("v1", "1")[0].starts_with("kind: Invalid value: \"1\": may have mixed case, but should otherwise"));
}

#[test]
fn expressions_are_read_without_what_surrounds_them() {
    let policy = policy(&json!({
        "matchConditions": [{"name": "c", "expression": "\n 1 "}],
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": " 1\n"}, "jsonPatch": {}}],
    }));
    assert_eq!(
        messages(|errors| policy.validate(errors)),
        [
            "spec.matchConditions[0].expression: Invalid value: \"1\": must evaluate to bool but got int",
            "spec.mutations[0].applyConfiguration.expression: Invalid value: \"1\": must evaluate to Object but got int",
            "spec.mutations[0].jsonPatch: Invalid value: \"{jsonPatch}\": must not be specified when patchType is \
             ApplyConfiguration",
        ]
    );
}

#[test]
fn reserved_names_are_reported() {
    let mut policy = policy(&json!({}));
    assert_eq!(policy.warnings_on_create(), Vec::<String>::new());
    "a.static.k8s.io".clone_into(&mut policy.metadata.name);
    assert_eq!(
        policy.warnings_on_create(),
        [
            "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based configurations \
             and cannot be managed via the API"
        ]
    );
    assert_eq!(messages(|errors| policy.validate(errors)), Vec::<String>::new());
}

#[test]
fn values_of_policies_are_known_where_there_are_some() {
    let policy = |variables: &Value| -> ValidatingAdmissionPolicy {
        read(
            "ValidatingAdmissionPolicy",
            &json!({"spec": {
                "matchConstraints": {"resourceRules": [
                    {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]},
                ]},
                "variables": variables,
                "validations": [{"expression": "variables.a"}],
            }}),
        )
    };
    let found = |policy: &ValidatingAdmissionPolicy| messages(|errors| policy.validate(errors)).join("\n");
    assert_eq!(found(&policy(&json!([{"name": "a", "expression": "true"}]))), "");
    assert!(found(&policy(&json!([]))).contains("undeclared reference to 'variables'"));
}

#[test]
fn places_of_warnings_are_paths() {
    let mut policy = ValidatingAdmissionPolicy::default();
    policy.status.type_checking = Some(TypeChecking {
        expression_warnings: vec![
            ExpressionWarning {
                field_ref: "spec.validations[0].expression".to_owned(),
                warning: "w".to_owned(),
            },
            ExpressionWarning {
                field_ref: "spec.validations[".to_owned(),
                warning: String::new(),
            },
        ],
    });
    assert_eq!(
        messages(|errors| policy.validate_status_update(&policy, errors)),
        [
            "status.typeChecking.expressionWarnings[1].warning: Required value",
            "status.typeChecking.expressionWarnings[1].fieldRef: Invalid value: \"spec.validations[\": invalid JSONPath: \
             unterminated array",
        ]
    );
}
