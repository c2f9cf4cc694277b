//! Authorizers besides roles: nodes, a policy file, and webhooks.

mod webhook;

use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home};
use serde_json::{Value, json};

/// Sends a request in the name of a user and a group, who are not in `system:masters`.
async fn call_as(connection: &Connection, user: &str, group: &str, method: Method, path: &str, body: Bytes) -> Answer {
    let request = connection.request(method, path);
    let request = request
        .header("Impersonate-User", user)
        .header("Impersonate-Group", group);
    let request = request.header("Content-Type", "application/json");
    connection.finish(request.body(body.into()).unwrap()).await.unwrap()
}

fn message(answer: &Answer) -> String {
    let json: Value = answer.json().unwrap();
    json["message"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_node_reads_what_its_pods_need() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let flags = [
        "--storage=memory",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
    ];
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    let create = async |path: &str, object: Value| {
        let created = connection.call(Method::POST, path, object.to_string()).await.unwrap();
        created.expect(201).unwrap();
    };
    let namespace = "/api/v1/namespaces/default";
    for name in ["used", "unused"] {
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
        create(&format!("{namespace}/secrets"), secret).await;
    }
    create(
        &format!("{namespace}/serviceaccounts"),
        json!({"metadata": {"name": "own"}}),
    )
    .await;
    let node = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
    let as_node = async |method: Method, path: &str, body: Value| {
        let body = match &body {
            Value::Null => Bytes::new(),
            body => body.to_string().into(),
        };
        call_as(&connection, "system:node:n1", "system:nodes", method, path, body).await
    };
    let read = async |path: &str| as_node(Method::GET, path, Value::Null).await.status.as_u16();

    assert_eq!(as_node(Method::POST, "/api/v1/nodes", node("n1")).await.status, 201);
    let other = as_node(Method::POST, "/api/v1/nodes", node("n2")).await;
    assert_eq!(other.status, 403);
    let why = "nodes \"n2\" is forbidden: node \"n1\" is not allowed to modify node \"n2\"";
    assert_eq!(message(&other), why);
    let pod = |name: &str, node: &str, secret: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
            "nodeName": node, "serviceAccountName": "own", "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": "registry.example/app:1"}],
            "volumes": [{"name": "s", "secret": {"secretName": secret}}],
        }})
    };
    let secret = |name: &str| format!("{namespace}/secrets/{name}");
    assert_eq!(read(&secret("used")).await, 403);
    create(&format!("{namespace}/pods"), pod("p", "n1", "used")).await;
    create(&format!("{namespace}/pods"), pod("q", "n2", "unused")).await;
    // The write was acknowledged, so the next request sees it.
    assert_eq!(read(&secret("used")).await, 200);
    let refused = as_node(Method::GET, &secret("unused"), Value::Null).await;
    assert_eq!(refused.status, 403);
    let why = "secrets \"unused\" is forbidden: User \"system:node:n1\" cannot get resource \"secrets\" in API group \"\" in the \
               namespace \"default\": no relationship found between node 'n1' and this object";
    assert_eq!(message(&refused), why);
    for (path, status) in [
        ("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", 200),
        ("/api/v1/pods", 403),
        ("/api/v1/nodes/n1", 200),
        ("/api/v1/nodes", 403),
        ("/api/v1/services", 200),
        ("/apis/storage.k8s.io/v1/csidrivers", 200),
    ] {
        assert_eq!(read(path).await, status, "{path}");
    }
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "n1"}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    assert_eq!(as_node(Method::POST, leases, lease).await.status, 201);
    let running = json!({"status": {"phase": "Running"}});
    let patch = connection
        .request(Method::PATCH, &format!("{namespace}/pods/p/status"))
        .header("Impersonate-User", "system:node:n1")
        .header("Impersonate-Group", "system:nodes")
        .header("Content-Type", "application/strategic-merge-patch+json");
    let patched = connection
        .finish(patch.body(Bytes::from(running.to_string()).into()).unwrap())
        .await;
    assert_eq!(patched.unwrap().status, 200);
    let uid = connection.get_json(&format!("{namespace}/pods/p")).await.unwrap()["metadata"]["uid"].clone();
    let bound = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid});
    let token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {
        "audiences": ["other"], "boundObjectRef": bound,
    }});
    let refused = as_node(Method::POST, &format!("{namespace}/serviceaccounts/own/token"), token).await;
    assert_eq!(refused.status, 403, "{}", refused.excerpt());
    assert!(message(&refused).contains("audience \"other\" not found in pod spec volume"));
}

#[tokio::test]
async fn policies_of_a_file_permit_what_they_name() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let file = home.path().join("policies.jsonl");
    let policies = r#"{"apiVersion": "abac.authorization.kubernetes.io/v1beta1", "kind": "Policy",
        "spec": {"user": "alice", "namespace": "work", "resource": "configmaps", "readonly": true}}"#;
    std::fs::write(&file, policies.replace('\n', " ")).unwrap();
    let file = format!("--authorization-policy-file={}", file.display());
    let configuration = home.path().join("authorization.yaml");
    let authorizers = "authorizers: [{type: ABAC, name: abac}, {type: AlwaysDeny, name: alwaysdeny}]";
    let text = format!("apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n{authorizers}\n");
    std::fs::write(&configuration, text).unwrap();
    let configuration = format!("--authorization-config={}", configuration.display());
    for modes in ["--authorization-mode=ABAC", &configuration] {
        let server = home.start(&binary, &["--storage=memory", modes, &file]).await.unwrap();
        let connection = server.connect().await.unwrap();
        let as_alice = async |method: Method, namespace: &str| {
            let path = format!("/api/v1/namespaces/{namespace}/configmaps");
            let body = json!({"metadata": {"name": "c"}}).to_string().into();
            call_as(&connection, "alice", "dev", method, &path, body).await.status
        };
        assert_eq!(as_alice(Method::GET, "work").await, 200, "{modes}");
        assert_eq!(as_alice(Method::GET, "default").await, 403, "{modes}");
        assert_eq!(as_alice(Method::POST, "work").await, 403, "{modes}");
        server.kill().await.unwrap();
    }
}
