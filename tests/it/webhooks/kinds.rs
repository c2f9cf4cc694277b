//! Webhooks for other versions of a kind, for custom kinds, for parts of objects and for actions on pods.

use http::Method;
use serde_json::{Value, json};

use super::hook::{WebhookCall, allowed, patched};
use super::{MUTATING, Setting, VALIDATING, rule};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn autoscaler(name: &str) -> Value {
    json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": {"maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu",
                "target": {"type": "Utilization", "averageUtilization": 50}}}]}})
}

#[tokio::test]
async fn rules_for_another_version_get_objects_of_that_version() {
    let setting = Setting::new().await;
    setting.hook.on("/old.example.com", |_| {
        patched(&json!([{"op": "replace", "path": "/spec/targetCPUUtilizationPercentage", "value": 70}]))
    });
    let old = json!({"name": "old.example.com", "rules": [rule("autoscaling", "v1", "horizontalpodautoscalers")]});
    setting.configure(MUTATING, "old", &[old]).await;
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let made = setting.send(Method::POST, path, &autoscaler("a"), 201).await;
    assert_eq!(
        made["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"],
        70
    );
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    let request = &call.request;
    assert_eq!(
        (&request["kind"]["version"], &request["requestKind"]["version"]),
        (&json!("v1"), &json!("v2"))
    );
    assert_eq!(request["resource"]["version"], "v1");
    assert_eq!(request["object"]["apiVersion"], "autoscaling/v1");
    assert_eq!(request["object"]["spec"]["targetCPUUtilizationPercentage"], 50);
}

#[tokio::test]
async fn exact_rules_ignore_other_versions() {
    let setting = Setting::new().await;
    setting.hook.on("/exact.example.com", |_| json!({"allowed": false}));
    let exact = json!({"name": "exact.example.com", "matchPolicy": "Exact",
        "rules": [rule("autoscaling", "v1", "horizontalpodautoscalers")]});
    setting.configure(VALIDATING, "exact", &[exact]).await;
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    setting.send(Method::POST, path, &autoscaler("a"), 201).await;
}

/// A kind with the versions v1 and v2, of which v1 is stored; the field `color` of v2 has a default.
fn definition() -> Value {
    let version = |name: &str, stored: bool, properties: Value| {
        json!({"name": name, "served": true, "storage": stored, "schema": {"openAPIV3Schema": {"type": "object",
            "properties": {"spec": {"type": "object", "properties": properties}}}}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "boats.hook.example.com"},
    "spec": {"group": "hook.example.com", "scope": "Namespaced",
        "names": {"plural": "boats", "singular": "boat", "kind": "Boat", "listKind": "BoatList"},
        "versions": [
            version("v1", true, json!({"size": {"type": "integer"}, "color": {"type": "string"}})),
            version("v2", false, json!({"size": {"type": "integer"}, "color": {"type": "string"},
                "sail": {"type": "object", "properties": {"kind": {"type": "string", "default": "gaff"}}}})),
        ]}})
}

#[tokio::test]
async fn custom_objects_are_converted_defaulted_and_pruned() {
    let setting = Setting::new().await;
    setting.send(Method::POST, DEFINITIONS, &definition(), 201).await;
    let path = |version: &str| format!("/apis/hook.example.com/{version}/namespaces/default/boats");
    setting.until(&path("v2"), |answer| answer.status == 200).await;
    setting.hook.on("/boats.example.com", |_| {
        patched(&json!([
            {"op": "add", "path": "/spec/color", "value": "red"},
            {"op": "add", "path": "/spec/sail", "value": {"unknown": 1}},
        ]))
    });
    let boats = json!({"name": "boats.example.com", "rules": [rule("hook.example.com", "v2", "boats")]});
    setting.configure(MUTATING, "boats", &[boats]).await;
    let boat = |version: &str| {
        json!({"apiVersion": format!("hook.example.com/{version}"), "kind": "Boat",
            "metadata": {"name": version}, "spec": {"size": 3}})
    };
    let made = setting.send(Method::POST, &path("v2"), &boat("v2"), 201).await;
    assert_eq!(made["spec"]["color"], "red");
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    assert_eq!(call.request["object"]["apiVersion"], "hook.example.com/v2");
    // The rule is for v2, the request for v1: the object goes there and back.
    let made = setting.send(Method::POST, &path("v1"), &boat("v1"), 201).await;
    assert_eq!(
        (&made["apiVersion"], &made["spec"]),
        (&json!("hook.example.com/v1"), &json!({"size": 3, "color": "red"}))
    );
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    assert_eq!(call.request["object"]["apiVersion"], "hook.example.com/v2");
    assert_eq!(call.request["requestKind"]["version"], "v1");
}

fn template() -> Value {
    json!({"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

#[tokio::test]
async fn a_scale_is_changed_as_a_scale() {
    let setting = Setting::new().await;
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": template()}});
    setting.send(Method::POST, DEPLOYMENTS, &deployment, 201).await;
    setting.hook.on("/scale.example.com", |_| {
        patched(&json!([{"op": "replace", "path": "/spec/replicas", "value": 4}]))
    });
    let scale = json!({"name": "scale.example.com", "rules": [rule("apps", "v1", "deployments/scale")]});
    setting.configure(MUTATING, "scale", &[scale]).await;
    let path = format!("{DEPLOYMENTS}/d/scale");
    let scale =
        json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 9}});
    let scaled = setting.send(Method::PUT, &path, &scale, 200).await;
    assert_eq!(scaled["spec"]["replicas"], 4);
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    let request = &call.request;
    assert_eq!(
        request["kind"],
        json!({"group": "autoscaling", "version": "v1", "kind": "Scale"})
    );
    assert_eq!(
        (&request["subResource"], &request["operation"]),
        (&json!("scale"), &json!("UPDATE"))
    );
    assert_eq!(
        (&request["object"]["kind"], &request["object"]["spec"]["replicas"]),
        (&json!("Scale"), &json!(9))
    );
    assert_eq!(request["oldObject"]["spec"]["replicas"], 1);
    // The client's Scale, and the one that it replaces.
    let metadata = |object: &str, field: &str| request[object]["metadata"][field].clone();
    assert_eq!(metadata("object", "uid"), Value::Null);
    assert!(metadata("oldObject", "uid").is_string());
    assert_eq!(metadata("object", "managedFields")[0]["subresource"], "scale");
    let fields = &metadata("oldObject", "managedFields")[0]["fieldsV1"];
    assert_eq!(*fields, json!({"f:spec": {"f:replicas": {}}}));
}

#[tokio::test]
async fn actions_on_pods_are_asked_about() {
    let setting = Setting::new().await;
    setting
        .until("/api/v1/namespaces/default/serviceaccounts/default", |answer| {
            answer.status == 200
        })
        .await;
    let pod = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}})
    };
    for name in ["a", "b", "c"] {
        setting.send(Method::POST, PODS, &pod(name), 201).await;
    }
    setting.hook.on("/pods.example.com", allowed);
    let mut rules = vec![rule("", "v1", "pods/*")];
    rules[0]["resources"] = json!(["pods", "pods/binding", "pods/eviction", "pods/exec"]);
    setting
        .configure(
            VALIDATING,
            "pods",
            &[json!({"name": "pods.example.com", "rules": rules})],
        )
        .await;

    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"},
        "target": {"kind": "Node", "name": "n"}});
    setting
        .send(Method::POST, &format!("{PODS}/a/binding"), &binding, 201)
        .await;
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "b"}});
    setting
        .send(Method::POST, &format!("{PODS}/b/eviction"), &eviction, 201)
        .await;
    // The node does not exist: the call before it counts.
    let exec = format!("{PODS}/a/exec?command=ls&stdout=true");
    setting.call(Method::POST, &exec, &Value::Null).await;
    setting
        .send(
            Method::DELETE,
            &format!("{PODS}?labelSelector=app%3Da"),
            &Value::Null,
            200,
        )
        .await;

    let calls = setting.hook.calls();
    let seen: Vec<String> = calls
        .iter()
        .map(|call| {
            let request = &call.request;
            let text = |pointer: &str| {
                request
                    .pointer(pointer)
                    .and_then(Value::as_str)
                    .unwrap_or("-")
                    .to_owned()
            };
            let parts = [
                "/operation",
                "/subResource",
                "/kind/kind",
                "/object/kind",
                "/oldObject/kind",
            ]
            .map(text);
            parts.join(" ")
        })
        .collect();
    for expected in [
        "CREATE binding Binding Binding -",
        "CREATE eviction Eviction Eviction -",
        "CONNECT exec PodExecOptions PodExecOptions -",
        "DELETE - Pod - Pod",
    ] {
        assert!(seen.iter().any(|seen| seen == expected), "{expected}: {seen:?}");
    }
    let exec = calls
        .iter()
        .find(|call| call.request["operation"] == "CONNECT")
        .unwrap();
    assert_eq!(exec.request["object"]["command"], json!(["ls"]));
    // An eviction is asked about once.
    let evicted = calls.iter().filter(|call| call.request["name"] == "b");
    assert_eq!(evicted.count(), 1);
}

#[tokio::test]
async fn the_end_of_a_running_pod_is_asked_about_as_long_as_it_changes_something() {
    let setting = Setting::new().await;
    setting
        .until("/api/v1/namespaces/default/serviceaccounts/default", |answer| {
            answer.status == 200
        })
        .await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}});
    setting.send(Method::POST, PODS, &pod, 201).await;
    setting.hook.on("/pods.example.com", allowed);
    let pods = json!({"name": "pods.example.com", "rules": [rule("", "v1", "pods")]});
    setting.configure(VALIDATING, "pods", &[pods]).await;
    let delete = async |query: &str| {
        let path = format!("{PODS}/p{query}");
        setting.send(Method::DELETE, &path, &Value::Null, 200).await;
        setting.hook.calls()
    };
    let remaining = |calls: &[WebhookCall]| -> Vec<Value> {
        let remaining =
            |call: &WebhookCall| call.request["oldObject"]["metadata"]["deletionGracePeriodSeconds"].clone();
        calls.iter().map(remaining).collect()
    };
    let given = |calls: &[WebhookCall]| -> Vec<Value> {
        let given = |call: &WebhookCall| call.request["options"]["gracePeriodSeconds"].clone();
        calls.iter().map(given).collect()
    };
    let first = delete("").await;
    assert_eq!(remaining(&first), [Value::Null]);
    assert_eq!(given(&first), [json!(30)], "that of the pod");
    assert!(delete("").await.is_empty(), "it is under way");
    // About the mark, and about the removal of the marked pod.
    let last = delete("?gracePeriodSeconds=0").await;
    assert_eq!(remaining(&last), [json!(30), json!(0)]);
    assert_eq!(given(&last), [json!(0), json!(0)]);

    let text = &first[0].text;
    let start = r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":""#;
    assert!(text.starts_with(start) && text.ends_with("}\n"), "{text}");
    for part in [
        r#""object":null,"oldObject":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":""#,
        r#""options":{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1""#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn configurations_are_exempt() {
    let setting = Setting::new().await;
    setting.hook.on("/all.example.com", |_| json!({"allowed": false}));
    let all = json!({"name": "all.example.com", "rules": [rule("*", "*", "*")], "namespaceSelector": {}});
    setting.configure(VALIDATING, "all", &[all]).await;
    setting.refused("a", 400).await;
    setting
        .send(Method::DELETE, &format!("{VALIDATING}/all"), &Value::Null, 200)
        .await;
    setting.send(Method::POST, super::MAPS, &super::map("a"), 201).await;
}

#[tokio::test]
async fn conditions_decide_after_rules_and_selectors() {
    let setting = Setting::new().await;
    setting.hook.on("/cond.example.com", |_| json!({"allowed": false}));
    let conditions = json!([{"name": "not-me", "expression": "request.userInfo.username != 'nobody'"},
        {"name": "asked", "expression": "has(object.metadata.labels) && object.metadata.labels['ask'] == 'yes'"},
        {"name": "permitted", "expression": "authorizer.group('').resource('pods').check('list').allowed()"}]);
    let cond = json!({"name": "cond.example.com", "matchConditions": conditions});
    setting.configure(VALIDATING, "cond", &[cond]).await;
    setting.send(Method::POST, super::MAPS, &super::map("a"), 201).await;
    let mut labelled = super::map("b");
    labelled["metadata"]["labels"] = json!({"ask": "yes"});
    setting.send(Method::POST, super::MAPS, &labelled, 400).await;
    labelled["metadata"]["labels"] = json!({"ask": "no"});
    setting.send(Method::POST, super::MAPS, &labelled, 201).await;
}
