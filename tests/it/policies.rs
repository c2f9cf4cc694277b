//! Admission policies, effective from the acknowledgement of their binding on.

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The time limit for background work, far above the usual duration.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server.
struct Setting {
    connection: Connection,
    _server: Server,
    _home: Home,
}

impl Setting {
    async fn new() -> Self {
        let home = Home::new().unwrap();
        let binary = Binary::Planesmith.path().unwrap();
        let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
        let connection = server.connect().await.unwrap();
        let setting = Self {
            connection,
            _server: server,
            _home: home,
        };
        setting
            .until("/api/v1/namespaces/default", |answer| answer.status == 200)
            .await;
        setting
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Answer {
        self.connection.call(method, path, body.to_string()).await.unwrap()
    }

    async fn create(&self, path: &str, body: &Value) -> Value {
        let made = self.send(Method::POST, path, body).await;
        made.expect(201).unwrap().json().unwrap()
    }

    async fn until(&self, path: &str, is_met: impl Fn(&Answer) -> bool) -> Answer {
        let polled = async {
            loop {
                let answer = self.connection.get(path).await.unwrap();
                if is_met(&answer) {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, polled).await.expect("in time")
    }

    /// Creates a policy of `kind` for config maps and a binding of the same name.
    async fn put_into_effect(&self, kind: &str, name: &str, mut spec: Value, mut binding: Value) {
        spec["matchConstraints"] = json!({"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}]});
        binding["policyName"] = json!(name);
        for (kind, spec) in [(kind.to_owned(), spec), (format!("{kind}Binding"), binding)] {
            let plural = match kind.ends_with('y') {
                true => format!("{}ies", kind.trim_end_matches('y')),
                false => format!("{kind}s"),
            };
            let path = format!("{GROUP}/{}", plural.to_lowercase());
            let body = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                "metadata": {"name": name}, "spec": spec});
            self.create(&path, &body).await;
        }
    }
}

fn map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

#[tokio::test]
async fn a_validating_policy_refuses_by_the_parameters_of_a_custom_kind() {
    let setting = Setting::new().await;
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "limits.policies.example.com"},
        "spec": {
            "group": "policies.example.com", "scope": "Namespaced",
            "names": {"plural": "limits", "singular": "limit", "kind": "Limit", "listKind": "LimitList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"most": {"type": "integer"}}}}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    setting.create(definitions, &definition).await;
    let limits = "/apis/policies.example.com/v1/namespaces/default/limits";
    setting.until(limits, |answer| answer.status == 200).await;
    let spec = json!({
        "paramKind": {"apiVersion": "policies.example.com/v1", "kind": "Limit"},
        "variables": [{"name": "count", "expression": "has(object.data) ? size(object.data) : 0"}],
        "validations": [{
            "expression": "variables.count <= params.most",
            "messageExpression": "'at most ' + string(params.most) + ' entries'",
            "reason": "Forbidden",
        }],
    });
    let binding = json!({
        "validationActions": ["Deny"],
        "paramRef": {"name": "small", "parameterNotFoundAction": "Deny"},
    });
    let kind = "ValidatingAdmissionPolicy";
    setting.put_into_effect(kind, "limits", spec, binding).await;
    let refused = setting.send(Method::POST, MAPS, &map("a", &json!({"a": "1"}))).await;
    let refused = refused.expect(422).unwrap().json().unwrap();
    assert_eq!(
        refused["message"],
        "configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: failed to \
         configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
    );
    let limit =
        json!({"apiVersion": "policies.example.com/v1", "kind": "Limit", "metadata": {"name": "small"}, "most": 1});
    setting.create(limits, &limit).await;
    setting.create(MAPS, &map("a", &json!({"a": "1"}))).await;
    let refused = setting
        .send(Method::POST, MAPS, &map("b", &json!({"a": "1", "b": "2"})))
        .await;
    let refused = refused.expect(403).unwrap().json().unwrap();
    assert_eq!(
        refused["message"],
        "configmaps \"b\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 1 entries"
    );
    let binding = format!("{GROUP}/validatingadmissionpolicybindings/limits");
    let deleted = setting.send(Method::DELETE, &binding, &json!({})).await;
    deleted.expect(200).unwrap();
    setting.create(MAPS, &map("b", &json!({"a": "1", "b": "2"}))).await;
}

#[tokio::test]
async fn the_authorizer_answers_for_the_user_of_the_request() {
    let setting = Setting::new().await;
    // One expression may ask for two decisions: a third exceeds its cost limit.
    let spec = json!({"validations": [
        {"expression": "authorizer.requestResource.check('create').allowed() && authorizer.group('').resource('pods')\
                        .namespace('default').check('delete').allowed()"},
        {"expression": "!authorizer.path('/healthz').check('get').errored()"},
    ]});
    let binding = json!({"validationActions": ["Deny"]});
    setting
        .put_into_effect("ValidatingAdmissionPolicy", "rights", spec, binding)
        .await;
    setting.create(MAPS, &map("a", &json!({}))).await;
}

#[tokio::test]
async fn mutating_policies_apply_configurations_and_patches() {
    let setting = Setting::new().await;
    let spec = json!({
        "reinvocationPolicy": "IfNeeded",
        "mutations": [
            {"patchType": "ApplyConfiguration", "applyConfiguration": {
                "expression": "Object{metadata: Object.metadata{labels: {'by': request.operation}}}"}},
            {"patchType": "JSONPatch", "jsonPatch": {
                "expression": "has(object.data) && 'old' in object.data ? [JSONPatch{op: 'move', from: '/data/old', path: '/data/new'}] : []"}},
        ],
    });
    setting
        .put_into_effect("MutatingAdmissionPolicy", "stamp", spec, json!({}))
        .await;
    let made = setting.create(MAPS, &map("a", &json!({"old": "1", "k": "v"}))).await;
    assert_eq!(
        (&made["metadata"]["labels"], &made["data"]),
        (&json!({"by": "CREATE"}), &json!({"k": "v", "new": "1"}))
    );
}

#[tokio::test]
async fn type_errors_of_a_policy_are_in_its_status() {
    let setting = Setting::new().await;
    let spec = json!({"validations": [{"expression": "object.replicas > 1"}, {"expression": "has(object.data)"}]});
    let binding = json!({"validationActions": ["Warn"]});
    setting
        .put_into_effect("ValidatingAdmissionPolicy", "wrong", spec, binding)
        .await;
    let path = format!("{GROUP}/validatingadmissionpolicies/wrong");
    let checked = setting
        .until(&path, |answer| {
            answer.json().unwrap()["status"]["observedGeneration"] == 1
        })
        .await;
    assert_eq!(
        checked.json().unwrap()["status"]["typeChecking"],
        json!({"expressionWarnings": [{
            "fieldRef": "spec.validations[0].expression",
            "warning": "/v1, Kind=ConfigMap: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n",
        }]})
    );
}
