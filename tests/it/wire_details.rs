//! Details of responses and flags that clients of kube-apiserver depend on.

use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

/// Without controllers, pods have no service accounts.
const FLAGS: [&str; 3] = [
    "--storage=memory",
    "--controllers=-*",
    "--disable-admission-plugins=ServiceAccount",
];

async fn serve(home: &Home, flags: &[&str]) -> (Server, Connection) {
    let flags = [&FLAGS[..], flags].concat();
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

async fn post(connection: &Connection, path: &str, body: &Value) -> Answer {
    connection.call(Method::POST, path, body.to_string()).await.unwrap()
}

async fn merge(connection: &Connection, path: &str, patch: &Value) -> Answer {
    let request = connection.request(Method::PATCH, path);
    let request = request.header("content-type", "application/merge-patch+json");
    let body = bytes::Bytes::from(patch.to_string());
    connection.finish(request.body(body.into()).unwrap()).await.unwrap()
}

fn message(answer: &Answer) -> String {
    answer.json().unwrap()["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn autoscalers_written_through_v1_have_the_defaults_of_v2() {
    const V1: &str = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let window = json!({"scaleDown": {"stabilizationWindowSeconds": 10, "policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}]}});
    let autoscaler = json!({
        "metadata": {"name": "web", "annotations": {BEHAVIOR: window.to_string(), "autoscaling.alpha.kubernetes.io/metrics": "no list"}},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "v1", "kind": "ReplicationController", "name": "web"}},
    });
    let answer = post(&connection, V1, &autoscaler).await.expect(201).unwrap();
    let created = answer.json().unwrap();
    let policy = |kind: &str, value: i32, seconds: i32| json!({"Type": kind, "Value": value, "PeriodSeconds": seconds});
    let rules = |window: i32, policies: &[Value]| json!({"StabilizationWindowSeconds": window, "SelectPolicy": "Max", "Policies": policies, "Tolerance": null});
    let stored: Value = serde_json::from_str(created["metadata"]["annotations"][BEHAVIOR].as_str().unwrap()).unwrap();
    let expected = json!({
        "ScaleUp": rules(0, &[policy("Pods", 4, 15), policy("Percent", 100, 15)]),
        "ScaleDown": rules(10, &[policy("Pods", 4, 60)]),
    });
    assert_eq!(stored, expected);
    let managed = &created["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:annotations"];
    assert_eq!(
        *managed,
        json!({".": {}, "f:autoscaling.alpha.kubernetes.io/behavior": {}})
    );
}

#[tokio::test]
async fn patches_to_another_version_of_a_kind_are_converted() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let labels = json!({"app": "web"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]}});
    let deployment =
        json!({"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}});
    post(&connection, DEPLOYMENTS, &deployment).await.expect(201).unwrap();
    let path = format!("{DEPLOYMENTS}/web");
    let patch = json!({"apiVersion": "apps/v1beta2", "spec": {"replicas": 3}});
    let answer = merge(&connection, &path, &patch).await.expect(200).unwrap();
    let patched = answer.json().unwrap();
    assert_eq!(
        (&patched["apiVersion"], &patched["spec"]["replicas"]),
        (&json!("apps/v1"), &json!(3))
    );
    for (api_version, problem) in [
        (
            "apps/v9",
            "no kind \"Deployment\" is registered for version \"apps/v9\"",
        ),
        ("a/b/c", "unexpected GroupVersion string: a/b/c"),
    ] {
        let answer = merge(&connection, &path, &json!({"apiVersion": api_version})).await;
        let message = message(&answer.expect(422).unwrap());
        assert!(message.contains(problem), "{message}");
    }
}

#[tokio::test]
async fn errors_name_what_kube_apiserver_names() {
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let pod = |spec: Value| json!({"metadata": {"name": "web"}, "spec": spec});
    let answer = post(&connection, PODS, &pod(json!({"restartPolicy": 1}))).await;
    assert!(
        message(&answer).ends_with("Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy"),
        "{}",
        message(&answer)
    );
    let drop = json!({"containers": [{"securityContext": {"capabilities": {"drop": [true]}}}]});
    let answer = post(&connection, PODS, &pod(drop)).await;
    assert!(
        message(&answer).ends_with("of type v1.Capability"),
        "{}",
        message(&answer)
    );

    let running = json!({"nodeName": "absent", "containers": [{"name": "web", "image": "web"}]});
    post(&connection, PODS, &pod(running)).await.expect(201).unwrap();
    let log = connection.get(&format!("{PODS}/web/log")).await.unwrap();
    assert_eq!(message(&log.expect(404).unwrap()), "pods \"absent\" not found");
    let exec = post(
        &connection,
        &format!("{PODS}/web/exec?command=ls&stdout=true"),
        &json!({}),
    )
    .await;
    assert_eq!(message(&exec.expect(404).unwrap()), "pods \"absent\" not found");

    let binding = json!({"metadata": {"name": "web/x"}, "target": {"kind": "Node", "name": "node"}});
    let answer = post(&connection, "/api/v1/namespaces/default/bindings", &binding).await;
    assert_eq!(
        message(&answer.expect(400).unwrap()),
        "Name parameter invalid: \"web/x\": may not contain '/'"
    );
}

#[tokio::test]
async fn questions_about_a_namespace_do_not_tell_if_it_exists() {
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let namespace = json!({"metadata": {"name": "ending", "finalizers": ["example.com/hold"]}});
    post(&connection, "/api/v1/namespaces", &namespace)
        .await
        .expect(201)
        .unwrap();
    let deleted = connection.call(Method::DELETE, "/api/v1/namespaces/ending", "").await;
    deleted.unwrap().expect(200).unwrap();
    for namespace in ["ending", "missing"] {
        let path = format!("/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews");
        let attributes = json!({"namespace": namespace, "verb": "get", "resource": "pods"});
        let review = json!({"spec": {"user": "jane", "resourceAttributes": attributes}});
        let answer = post(&connection, &path, &review).await.expect(201).unwrap();
        assert_eq!(answer.json().unwrap()["status"], json!({"allowed": false}));
    }
}

#[tokio::test]
async fn flags_of_upstream_scripts_are_understood() {
    let home = Home::new().unwrap();
    let flags = [
        "--runtime-config=api/v1",
        "--runtime-config=apps/v1",
        "--version=v1.36.0+local.1",
    ];
    let (server, connection) = serve(&home, &flags).await;
    let version = connection.get("/version").await.unwrap().json().unwrap();
    assert_eq!(version["gitVersion"], "v1.36.0+local.1");
    let service = connection.get_json("/apis/apiregistration.k8s.io/v1/apiservices/v1.resource.k8s.io");
    let service = service.await.unwrap();
    assert_eq!(service["spec"]["versionPriority"], 21);
    server.kill().await.unwrap();

    let own = home.start(&Binary::Planesmith.path().unwrap(), &FLAGS[..1]).await;
    let own = own.unwrap();
    let connection = own.connect().await.unwrap();
    let version = connection.get("/version").await.unwrap().json().unwrap();
    assert_eq!(version["gitVersion"], "v1.36.0+planesmith");
}

#[tokio::test]
async fn the_first_deletion_of_a_definition_ignores_what_is_to_become_of_dependents() {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let names = json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"});
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com", "finalizers": ["example.com/own"]},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names,
                 "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]},
    });
    post(&connection, DEFINITIONS, &definition).await.expect(201).unwrap();
    let path = format!("{DEFINITIONS}/widgets.example.com?propagationPolicy=Orphan");
    let finalizers = async || {
        let answer = connection.call(Method::DELETE, &path, "").await.unwrap();
        answer.expect(200).unwrap().json().unwrap()["metadata"]["finalizers"].clone()
    };
    let first = finalizers().await;
    assert_eq!(
        first,
        json!(["example.com/own", "customresourcecleanup.apiextensions.k8s.io"])
    );
    // The cleanup may have finished in the meantime.
    let again = finalizers().await;
    let again: Vec<&str> = again.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        matches!(again.as_slice(), ["example.com/own", .., "orphan"]),
        "{again:?}"
    );
}

#[tokio::test]
async fn health_checks_have_the_names_that_probes_of_kube_apiserver_expect() {
    // Those of upstream's test of the health handlers.
    const CHECKS: [&str; 19] = [
        "ping",
        "log",
        "etcd",
        "poststarthook/start-apiserver-admission-initializer",
        "poststarthook/generic-apiserver-start-informers",
        "poststarthook/storage-object-count-tracker-hook",
        "poststarthook/start-apiextensions-informers",
        "poststarthook/start-apiextensions-controllers",
        "poststarthook/crd-informer-synced",
        "poststarthook/start-system-namespaces-controller",
        "poststarthook/bootstrap-controller",
        "poststarthook/scheduling/bootstrap-system-priority-classes",
        "poststarthook/start-cluster-authentication-info-controller",
        "poststarthook/start-kube-aggregator-informers",
        "poststarthook/apiservice-registration-controller",
        "poststarthook/apiservice-status-local-available-controller",
        "poststarthook/kube-apiserver-autoregistration",
        "autoregister-completion",
        "poststarthook/apiservice-openapi-controller",
    ];
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    for path in ["/healthz?verbose=1", "/livez?verbose=1", "/readyz?verbose=1"] {
        let answer = connection.get(path).await.unwrap().expect(200).unwrap();
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        for check in CHECKS {
            assert!(text.contains(&format!("[+]{check} ok\n")), "{check} in {path}: {text}");
        }
    }
}

#[tokio::test]
async fn documents_about_tokens_have_the_paths_of_a_web_service() {
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    for path in ["/.well-known/openid-configuration", "/openid/v1/jwks"] {
        for same in [path.to_owned(), format!("{path}/")] {
            connection.get(&same).await.unwrap().expect(200).unwrap();
        }
        let below = connection.get(&format!("{path}/x")).await.unwrap().expect(404).unwrap();
        let message = &below.json().unwrap()["message"];
        assert_eq!(message, "the server could not find the requested resource", "{path}");
    }
}

#[tokio::test]
async fn answers_to_posted_bodies_of_subresources_are_transformed() {
    const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    const PODS: &str = "/api/v1/namespaces/default/pods";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let post_as = async |accepted: &str, path: &str, body: &Value| {
        let request = connection.request(Method::POST, path).header("accept", accepted);
        let body = bytes::Bytes::from(body.to_string());
        connection.finish(request.body(body.into()).unwrap()).await.unwrap()
    };
    let account = json!({"metadata": {"name": "robot"}});
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&connection, accounts, &account).await.expect(201).unwrap();
    let token = format!("{accounts}/robot/token");
    let request = json!({"spec": {"audiences": []}});
    let answer = post_as(METADATA, &token, &request).await.expect(201).unwrap();
    let answer = answer.json().unwrap();
    assert_eq!(
        (&answer["kind"], &answer["apiVersion"], &answer["metadata"]["name"]),
        (
            &json!("PartialObjectMetadata"),
            &json!("meta.k8s.io/v1"),
            &json!("robot")
        )
    );
    assert_eq!((answer.get("status"), answer.get("spec")), (None, None));
    let list = METADATA.replace("PartialObjectMetadata", "PartialObjectMetadataList");
    let answer = post_as(&list, &token, &request).await.expect(406).unwrap();
    assert_eq!(
        message(&answer),
        "you requested PartialObjectMetadataList, but the requested object is not a list (*authentication.TokenRequest)"
    );
    let table = METADATA.replace("PartialObjectMetadata", "Table");
    post_as(&table, &token, &request).await.expect(406).unwrap();

    let pod = json!({"metadata": {"name": "web"}, "spec": {"containers": [{"name": "web", "image": "web"}]}});
    post(&connection, PODS, &pod).await.expect(201).unwrap();
    let binding = json!({"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n"}});
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}});
    // A Status is an answer in any case.
    for (subresource, body) in [("binding", binding), ("eviction", eviction)] {
        let answer = post_as(METADATA, &format!("{PODS}/web/{subresource}"), &body).await;
        let answer = answer.expect(201).unwrap().json().unwrap();
        assert_eq!(
            (&answer["kind"], &answer["status"]),
            (&json!("Status"), &json!("Success"))
        );
    }
}

#[tokio::test]
async fn a_slash_before_a_version_names_the_group_without_a_name() {
    const MAPS: &str = "/api/v1/namespaces/default/configmaps";
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &[]).await;
    let map = json!({"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "a", "ownerReferences": [
        {"apiVersion": "/v1", "kind": "ConfigMap", "name": "owner", "uid": "1"},
    ]}});
    let created = post(&connection, MAPS, &map).await.expect(201).unwrap().json().unwrap();
    assert_eq!(created["apiVersion"], "v1");
    assert_eq!(created["metadata"]["ownerReferences"][0]["apiVersion"], "/v1");
    let one = format!("{MAPS}/b");
    let body = r#"{"apiVersion": "/v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"x": "y"}}"#;
    let request = connection.request(Method::PATCH, &format!("{one}?fieldManager=me"));
    let request = request.header("content-type", "application/apply-patch+yaml");
    let applied = connection
        .finish(request.body(bytes::Bytes::from(body).into()).unwrap())
        .await
        .unwrap();
    let applied = applied.expect(201).unwrap().json().unwrap();
    assert_eq!(applied["apiVersion"], "v1");
    assert_eq!(applied["metadata"]["managedFields"][0]["apiVersion"], "v1");
    let patched = merge(&connection, &one, &json!({"apiVersion": "/v1", "data": {"x": "z"}})).await;
    assert_eq!(patched.expect(200).unwrap().json().unwrap()["apiVersion"], "v1");
    let updated = connection.call(Method::PUT, &one, body.to_owned()).await.unwrap();
    assert_eq!(updated.expect(200).unwrap().json().unwrap()["data"], json!({"x": "y"}));
    let answer = post(&connection, MAPS, &json!({"apiVersion": "/v2", "kind": "ConfigMap"})).await;
    assert!(
        message(&answer).contains("no kind \"ConfigMap\" is registered for version \"v2\""),
        "{}",
        message(&answer)
    );
    let options = json!({"apiVersion": "/v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}).to_string();
    let deleted = connection.call(Method::DELETE, &one, options).await.unwrap();
    deleted.expect(200).unwrap();
}
