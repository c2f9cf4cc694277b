//! Admission webhooks over TLS: the requests that they get, and the effect of their answers.

mod hook;
mod kinds;
mod python;

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

use self::hook::{Hook, allowed, patched};

const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const VALIDATING: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// The time limit for background work, far above the usual duration.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server, and a webhook that it may ask.
struct Setting {
    connection: Connection,
    hook: Hook,
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
            hook: Hook::start().await,
            _server: server,
            _home: home,
        };
        setting
            .until("/api/v1/namespaces/default", |answer| answer.status == 200)
            .await;
        setting
    }

    /// Configures webhooks of one kind, which `overrides` change; each is asked under the path of its name.
    async fn configure(&self, path: &str, name: &str, webhooks: &[Value]) {
        let kind = match path {
            MUTATING => "MutatingWebhookConfiguration",
            _ => "ValidatingWebhookConfiguration",
        };
        let webhooks: Vec<Value> = webhooks.iter().map(|overrides| self.webhook(overrides)).collect();
        let body = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": name}, "webhooks": webhooks});
        self.send(Method::POST, path, &body, 201).await;
    }

    fn webhook(&self, overrides: &Value) -> Value {
        let name = overrides["name"].as_str().unwrap();
        let mut webhook = json!({
            "clientConfig": self.hook.client(&format!("/{name}")),
            "rules": [rule("", "v1", "configmaps")],
            "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}},
        });
        for (key, value) in overrides.as_object().unwrap() {
            webhook[key] = value.clone();
        }
        webhook
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> Answer {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.connection.call(method, path, body).await.unwrap()
    }

    async fn send(&self, method: Method, path: &str, body: &Value, status: u16) -> Value {
        let answer = self.call(method, path, body).await;
        answer.expect(status).unwrap().json().unwrap()
    }

    /// Returns the Status of a refused creation of a ConfigMap.
    async fn refused(&self, name: &str, status: u16) -> Value {
        self.send(Method::POST, MAPS, &map(name), status).await
    }

    async fn until(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        let read = async {
            loop {
                let answer = self.connection.get(path).await.unwrap();
                if wanted(&answer) {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, read)
            .await
            .expect("the answer comes in time")
    }
}

fn rule(group: &str, version: &str, resource: &str) -> Value {
    json!({"operations": ["*"], "apiGroups": [group], "apiVersions": [version], "resources": [resource]})
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

/// A patch that adds a key to the data of a ConfigMap.
fn with_key(request: &Value, key: &str, value: &str) -> Value {
    match request["object"].get("data") {
        None => patched(&json!([{"op": "add", "path": "/data", "value": {key: value}}])),
        Some(_) => patched(&json!([{"op": "add", "path": format!("/data/{key}"), "value": value}])),
    }
}

#[tokio::test]
async fn webhooks_get_the_request_and_change_the_object() {
    let setting = Setting::new().await;
    setting.hook.on("/add.example.com", |request| {
        if request["operation"] == "DELETE" {
            return allowed(request);
        }
        let mut answer = with_key(request, "added", "yes");
        answer["warnings"] = json!(["mind the gap"]);
        answer
    });
    setting
        .configure(
            MUTATING,
            "add",
            &[json!({"name": "add.example.com", "timeoutSeconds": 7})],
        )
        .await;
    let path = format!("{MAPS}?fieldManager=me");
    let answer = setting.call(Method::POST, &path, &map("a")).await.expect(201).unwrap();
    let warnings = answer.headers.get_all("warning").iter();
    let warnings: Vec<&str> = warnings.map(|value| value.to_str().unwrap()).collect();
    assert_eq!(warnings, [r#"299 - "mind the gap""#]);
    assert_eq!(answer.json().unwrap()["data"], json!({"added": "yes"}));
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    assert_eq!(call.query, "timeout=7s");
    let request = &call.request;
    let version = json!({"group": "", "version": "v1"});
    let with = |key: &str, value: &str| {
        let mut version = version.clone();
        version[key] = json!(value);
        version
    };
    for (field, expected) in [
        ("kind", with("kind", "ConfigMap")),
        ("requestKind", with("kind", "ConfigMap")),
        ("resource", with("resource", "configmaps")),
        ("requestResource", with("resource", "configmaps")),
        ("name", json!("a")),
        ("namespace", json!("default")),
        ("operation", json!("CREATE")),
        ("dryRun", json!(false)),
        ("oldObject", Value::Null),
        (
            "options",
            json!({"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "me"}),
        ),
    ] {
        assert_eq!(request[field], expected, "{field}");
    }
    assert!(request.get("subResource").is_none());
    assert_eq!(request["object"]["kind"], "ConfigMap");
    assert!(
        request["userInfo"]["groups"]
            .as_array()
            .unwrap()
            .contains(&json!("system:masters"))
    );

    let one = format!("{MAPS}/a");
    setting.send(Method::DELETE, &one, &Value::Null, 200).await;
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    let request = &call.request;
    assert_eq!(
        (&request["operation"], &request["object"]),
        (&json!("DELETE"), &Value::Null)
    );
    assert_eq!(request["oldObject"]["data"], json!({"added": "yes"}));
    assert_eq!(request["options"]["kind"], "DeleteOptions");
}

#[tokio::test]
async fn webhooks_are_asked_again_once_if_others_changed_the_object() {
    let setting = Setting::new().await;
    setting.hook.on("/first.example.com", |request| {
        let seen = request["object"]["data"].as_object().map_or(0, serde_json::Map::len);
        with_key(request, &format!("seen-{seen}"), "x")
    });
    setting
        .hook
        .on("/second.example.com", |request| with_key(request, "second", "x"));
    setting.hook.on("/third.example.com", allowed);
    let webhooks = [
        json!({"name": "first.example.com", "reinvocationPolicy": "IfNeeded"}),
        json!({"name": "second.example.com"}),
        json!({"name": "third.example.com", "reinvocationPolicy": "IfNeeded"}),
    ];
    setting.configure(MUTATING, "order", &webhooks).await;
    let made = setting.send(Method::POST, MAPS, &map("a"), 201).await;
    assert_eq!(made["data"], json!({"seen-0": "x", "second": "x", "seen-2": "x"}));
    let called: Vec<String> = setting.hook.calls().into_iter().map(|call| call.path).collect();
    let expected = [
        "/first.example.com",
        "/second.example.com",
        "/third.example.com",
        "/first.example.com",
    ];
    // The third one saw all changes of the first round, and the change of the second round comes before it.
    assert_eq!(called[..4], expected);
    assert_eq!(called[4..], ["/third.example.com"]);
}

#[tokio::test]
async fn refusals_and_failures_are_reported() {
    let setting = Setting::new().await;
    setting.hook.on("/deny.example.com", |_| {
        json!({"allowed": false, "status": {"code": 418, "reason": "Teapot", "message": "short and stout",
            "details": {"causes": [{"reason": "Tea", "message": "m", "field": "f"}]}}})
    });
    setting
        .configure(VALIDATING, "deny", &[json!({"name": "deny.example.com"})])
        .await;
    let status = setting.refused("a", 418).await;
    assert_eq!(
        status["message"],
        r#"admission webhook "deny.example.com" denied the request: short and stout"#
    );
    assert_eq!((&status["reason"], &status["code"]), (&json!("Teapot"), &json!(418)));
    assert_eq!(status["details"]["causes"][0]["reason"], "Tea");
    let metrics = setting.connection.get("/metrics").await.unwrap();
    let counted = r#"apiserver_admission_webhook_rejection_count{error_type="no_error",name="deny.example.com",operation="CREATE",rejection_code="418",type="validating"} 1"#;
    assert!(String::from_utf8_lossy(&metrics.body).contains(counted));
    setting.hook.on("/deny.example.com", |_| json!({"allowed": false}));
    let status = setting.refused("a", 400).await;
    assert_eq!(
        status["message"],
        r#"admission webhook "deny.example.com" denied the request without explanation"#
    );

    // A validating webhook may not change the object.
    setting.hook.on("/deny.example.com", |_| patched(&json!([])));
    let status = setting.refused("a", 500).await;
    let why = r#"failed calling webhook "deny.example.com": received invalid webhook response: validating webhook may not return response.patch"#;
    assert_eq!(status["message"], format!("Internal error occurred: {why}"));
    assert_eq!(status["details"]["causes"], json!([{"message": why}]));
}

#[tokio::test]
async fn a_dry_run_asks_only_webhooks_without_side_effects() {
    let setting = Setting::new().await;
    setting.hook.on("/dry.example.com", allowed);
    setting
        .configure(
            VALIDATING,
            "dry",
            &[json!({"name": "dry.example.com", "sideEffects": "NoneOnDryRun"})],
        )
        .await;
    setting
        .send(Method::POST, &format!("{MAPS}?dryRun=All"), &map("a"), 201)
        .await;
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    assert_eq!(call.request["dryRun"], true);
}

#[tokio::test]
async fn a_patch_that_does_not_apply_is_an_error_of_the_server() {
    let setting = Setting::new().await;
    setting.hook.on("/bad.example.com", |_| {
        patched(&json!([{"op": "remove", "path": "/data/none"}]))
    });
    setting
        .configure(
            MUTATING,
            "bad",
            &[json!({"name": "bad.example.com", "failurePolicy": "Ignore"})],
        )
        .await;
    setting.refused("a", 500).await;
    // It cannot change an object that is deleted.
    setting.hook.on("/bad.example.com", allowed);
    setting.send(Method::POST, MAPS, &map("b"), 201).await;
    setting.hook.on("/bad.example.com", |_| {
        patched(&json!([{"op": "remove", "path": "/data"}]))
    });
    let status = setting
        .send(Method::DELETE, &format!("{MAPS}/b"), &Value::Null, 500)
        .await;
    let why = r#"Internal error occurred: admission webhook "bad.example.com" attempted to modify the object, which is not supported for this operation"#;
    assert_eq!(status["message"], why);
    // An unreadable patch is ignored like any failed call.
    setting.hook.on("/bad.example.com", |_| patched(&json!("nonsense")));
    setting.send(Method::POST, MAPS, &map("c"), 201).await;
}

#[tokio::test]
async fn failures_follow_the_policy_while_a_webhook_is_down() {
    let mut setting = Setting::new().await;
    for name in ["fail.example.com", "ignore.example.com"] {
        setting
            .hook
            .on(&format!("/{name}"), |request| with_key(request, "x", "y"));
    }
    let ignored =
        json!({"name": "ignore.example.com", "failurePolicy": "Ignore", "rules": [rule("", "v1", "secrets")]});
    setting
        .configure(MUTATING, "both", &[json!({"name": "fail.example.com"}), ignored])
        .await;
    for name in ["a", "b", "c"] {
        setting.send(Method::POST, MAPS, &map(name), 201).await;
    }
    assert_eq!(setting.hook.connections(), 1, "the connection is used again");
    setting.hook.stop().await;
    let port = setting.hook.port();
    let status = setting.refused("d", 500).await;
    let why = format!(
        r#"Internal error occurred: failed calling webhook "fail.example.com": failed to call webhook: Post "https://127.0.0.1:{port}/fail.example.com?timeout=10s": dial tcp 127.0.0.1:{port}: connect: connection refused"#
    );
    assert_eq!(status["message"], why);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    let secret = setting
        .send(Method::POST, "/api/v1/namespaces/default/secrets", &secret, 201)
        .await;
    assert!(secret.get("data").is_none());
    setting.hook.restart().await;
    let made = setting.send(Method::POST, MAPS, &map("e"), 201).await;
    assert_eq!(made["data"], json!({"x": "y"}));
}

#[tokio::test]
async fn a_webhook_that_does_not_answer_is_given_up() {
    let setting = Setting::new().await;
    // It accepts connections and says nothing.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = json!({"name": "silent.example.com", "timeoutSeconds": 1,
        "clientConfig": {"url": format!("https://127.0.0.1:{port}/")}});
    setting.configure(VALIDATING, "silent", &[silent]).await;
    let status = setting.refused("a", 500).await;
    let why = format!(
        r#"Internal error occurred: failed calling webhook "silent.example.com": failed to call webhook: Post "https://127.0.0.1:{port}/?timeout=1s": context deadline exceeded"#
    );
    assert_eq!(status["message"], why);
    drop(listener);
}

#[tokio::test]
async fn changes_of_a_configuration_are_effective_at_once() {
    let setting = Setting::new().await;
    setting.hook.on("/one.example.com", |_| json!({"allowed": false}));
    for round in 0..3 {
        setting
            .configure(VALIDATING, "one", &[json!({"name": "one.example.com"})])
            .await;
        setting.refused("a", 400).await;
        setting
            .send(Method::DELETE, &format!("{VALIDATING}/one"), &Value::Null, 200)
            .await;
        setting.send(Method::POST, MAPS, &map(&format!("a-{round}")), 201).await;
    }
}

#[tokio::test]
async fn a_patch_can_turn_an_object_into_one_of_another_version() {
    const V2: &str = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let setting = Setting::new().await;
    setting.hook.on("/older.example.com", |_| {
        patched(&json!([
            {"op": "replace", "path": "/apiVersion", "value": "autoscaling/v1"},
            {"op": "add", "path": "/spec/targetCPUUtilizationPercentage", "value": 42},
        ]))
    });
    let webhook =
        json!({"name": "older.example.com", "rules": [rule("autoscaling", "v2", "horizontalpodautoscalers")]});
    setting.configure(MUTATING, "older", &[webhook]).await;
    let scaler = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    });
    let created = setting.send(Method::POST, V2, &scaler, 201).await;
    assert_eq!(created["apiVersion"], "autoscaling/v2");
    let metrics = json!([{"type": "Resource", "resource": {"name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 42}}}]);
    assert_eq!(created["spec"]["metrics"], metrics);
}

#[tokio::test]
async fn a_patch_can_turn_a_custom_object_into_one_of_a_defined_version() {
    const KITES: &str = "/apis/kites.example.com/v1/kites";
    let setting = Setting::new().await;
    let version = |name: &str| {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": schema})
    };
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.kites.example.com"},
        "spec": {
            "group": "kites.example.com", "scope": "Cluster",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [version("v1"), version("v2")],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    setting.send(Method::POST, definitions, &definition, 201).await;
    setting.until(KITES, |answer| answer.status == 200).await;
    setting.hook.on("/newer.example.com", |request| {
        let named = &request["object"]["metadata"]["annotations"]["version"];
        patched(&json!([{"op": "replace", "path": "/apiVersion", "value": named}]))
    });
    let webhook = json!({"name": "newer.example.com", "rules": [rule("kites.example.com", "*", "kites")],
        "namespaceSelector": {}});
    setting.configure(MUTATING, "newer", &[webhook]).await;
    let kite = |version: &str| {
        json!({"apiVersion": "kites.example.com/v1", "kind": "Kite",
            "metadata": {"name": "k", "annotations": {"version": version}}})
    };
    for (version, problem) in [
        (
            "kites.example.com/v9",
            "request to convert CR from an invalid group/version: kites.example.com/v9",
        ),
        (
            "other.example.com/v1",
            "other.example.com/v1, Kind=Kite is unstructured and is not suitable for converting to \"kites.example.com/v1\"",
        ),
    ] {
        let refused = setting.send(Method::POST, KITES, &kite(version), 500).await;
        assert_eq!(refused["message"], problem);
    }
    let created = setting
        .send(Method::POST, KITES, &kite("kites.example.com/v2"), 201)
        .await;
    assert_eq!(created["apiVersion"], "kites.example.com/v1");
}

#[tokio::test]
async fn managed_fields_that_a_webhook_breaks_are_those_of_before() {
    const WARNING: &str = "299 - \".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: apiVersion must not be empty\"";
    let setting = Setting::new().await;
    setting.hook.on("/break.example.com", |_| {
        let remove = |field: &str| json!({"op": "remove", "path": format!("/metadata/managedFields/0/{field}")});
        patched(&json!(["apiVersion", "fieldsV1", "fieldsType"].map(remove)))
    });
    setting
        .configure(MUTATING, "break", &[json!({"name": "break.example.com"})])
        .await;
    let with_data = |value: &str| {
        let mut map = map("a");
        map["data"] = json!({"x": value});
        map
    };
    for (method, path, value, status) in [
        (Method::POST, MAPS.to_owned(), "1", 201),
        (Method::PUT, format!("{MAPS}/a"), "2", 200),
    ] {
        let path = format!("{path}?fieldManager=me");
        let answer = setting.call(method, &path, &with_data(value)).await;
        let answer = answer.expect(status).unwrap();
        let warnings: Vec<_> = answer.headers.get_all("warning").iter().collect();
        assert_eq!(warnings, [WARNING]);
        let written = answer.json().unwrap();
        let [entry] = &written["metadata"]["managedFields"].as_array().unwrap()[..] else {
            panic!("one manager: {written}")
        };
        assert_eq!((&entry["manager"], &entry["apiVersion"]), (&json!("me"), &json!("v1")));
        assert_eq!(entry["fieldsV1"], json!({"f:data": {".": {}, "f:x": {}}}));
    }
}

#[tokio::test]
async fn webhooks_change_the_options_of_connections() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let setting = Setting::new().await;
    setting.hook.on("/connect.example.com", |_| {
        patched(&json!([
            {"op": "add", "path": "/foo", "value": "test"},
            {"op": "add", "path": "/container", "value": "other"},
        ]))
    });
    setting.hook.on("/see.example.com", allowed);
    let rules =
        json!([{"operations": ["CONNECT"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods/exec"]}]);
    let mutating = json!({"name": "connect.example.com", "rules": rules});
    setting.configure(MUTATING, "connect", &[mutating]).await;
    let validating = json!({"name": "see.example.com", "rules": rules});
    setting.configure(VALIDATING, "see", &[validating]).await;
    let account = json!({"metadata": {"name": "default"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let _may_exist = setting.call(Method::POST, accounts, &account).await;
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    setting.send(Method::POST, PODS, &pod, 201).await;
    let path = format!("{PODS}/p/exec?command=ls&stdout=true");
    let refused = setting.send(Method::POST, &path, &Value::Null, 400).await;
    assert_eq!(refused["message"], "container other is not valid for pod p");
    let calls = setting.hook.calls();
    let objects: Vec<&Value> = calls.iter().map(|call| &call.request["object"]).collect();
    let options = |container: &str| {
        let mut options = json!({"kind": "PodExecOptions", "apiVersion": "v1", "stdout": true, "command": ["ls"]});
        if !container.is_empty() {
            options["container"] = json!(container);
        }
        options
    };
    assert_eq!(objects, [&options(""), &options("other")]);
}
