//! Access by roles and bindings.

use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, RequestBody};
use serde_json::{Value, json};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const LIST: &str = "/api/v1/namespaces/default/configmaps";

/// Lists config maps as `user`.
async fn list(connection: &Connection, user: &str) -> Answer {
    let request = connection.request(Method::GET, LIST).header("impersonate-user", user);
    let body: RequestBody = Bytes::new().into();
    connection.finish(request.body(body).unwrap()).await.unwrap()
}

/// Puts an object.
async fn put(connection: &Connection, collection: &str, object: &Value) {
    let path = format!("{collection}/{}", object["metadata"]["name"].as_str().unwrap());
    let answer = connection.call(Method::PUT, &path, object.to_string()).await.unwrap();
    assert!(answer.status.is_success(), "{path}: {}", answer.excerpt());
}

fn role(name: &str, rules: &Value) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": name}, "rules": rules,
    })
}

fn binding(name: &str, user: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

#[tokio::test]
async fn a_change_counts_from_the_next_request_on() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    put(&connection, BINDINGS, &binding("ann", "ann")).await;
    let pods = json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]);
    let maps = json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}]);
    let dangling = list(&connection, "ann").await;
    assert!(
        dangling
            .excerpt()
            .contains(r#"RBAC: clusterrole.rbac.authorization.k8s.io \"ann\" not found"#),
        "{}",
        dangling.excerpt()
    );
    for _ in 0..50 {
        put(&connection, ROLES, &role("ann", &maps)).await;
        assert_eq!(list(&connection, "ann").await.status, 200);
        put(&connection, ROLES, &role("ann", &pods)).await;
        assert_eq!(list(&connection, "ann").await.status, 403);
    }
}
