//! Access by roles and bindings: every route and verb, changes that count at once, and escalation.

mod routes;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use planesmith_e2e::{Answer, Binary, Connection, Home, RequestBody, Server};
use serde_json::{Value, json};

use self::routes::{Route, routes, without_resource};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// The user who gets one right at a time.
const WALKER: &str = "walker";
/// A user without rights of their own.
const STRANGER: &str = "stranger";

async fn started(home: &Home) -> (Server, Connection) {
    let binary = Binary::Planesmith.path().unwrap();
    // Every version, so that every route is walked.
    let flags = ["--storage=memory", "--runtime-config=api/all=true", "--controllers=-*"];
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

/// Sends a request as `user`; `None` sends it without credentials.
async fn ask(connection: &Connection, user: Option<&str>, route: &Route) -> Answer {
    let request = match user {
        Some(user) => connection
            .request(route.method.clone(), &route.path)
            .header("impersonate-user", user),
        None => Request::builder()
            .method(route.method.clone())
            .uri(connection.request(Method::GET, &route.path).uri_ref().cloned().unwrap()),
    };
    let request = request.header(CONTENT_TYPE, route.media_type);
    let body: RequestBody = Bytes::from_static(route.body.as_bytes()).into();
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

/// True for an answer that the authorizer gave.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 && answer.excerpt().contains("cannot")
}

#[tokio::test]
async fn every_route_needs_exactly_its_own_right() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home).await;
    put(&connection, ROLES, &role(WALKER, &json!([]))).await;
    put(&connection, BINDINGS, &binding(WALKER, WALKER)).await;
    let all = routes(&connection).await;
    assert!(all.len() > 1000, "{} routes", all.len());
    let mut wrong = Vec::new();
    for route in &all {
        let anonymous = ask(&connection, None, route).await.status;
        if anonymous != 403 && anonymous != 401 && !route.is_public {
            wrong.push(format!("anonymous {route}: {anonymous}"));
        }
        let stranger = ask(&connection, Some(STRANGER), route).await;
        if !is_refused(&stranger) && !route.is_for_everybody {
            wrong.push(format!("a stranger {route}: {}", stranger.excerpt()));
        }
        let Some(rule) = &route.rule else { continue };
        put(&connection, ROLES, &role(WALKER, &json!([rule]))).await;
        let walker = ask(&connection, Some(WALKER), route).await;
        if is_refused(&walker) || walker.status == 401 {
            wrong.push(format!("with the right {route}: {}", walker.excerpt()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), all.len());
}

#[tokio::test]
async fn documented_paths_are_no_way_around() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home).await;
    let documented = without_resource(&connection).await;
    assert!(documented.len() > 100, "{} paths", documented.len());
    for route in documented.iter().filter(|route| !route.is_public) {
        let anonymous = ask(&connection, None, route).await.status;
        assert!(anonymous == 401 || anonymous == 403, "{route}: {anonymous}");
        if !route.is_for_everybody {
            let stranger = ask(&connection, Some(STRANGER), route).await;
            assert!(is_refused(&stranger), "{route}: {}", stranger.excerpt());
        }
    }
}

#[tokio::test]
async fn a_change_counts_from_the_next_request_on() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home).await;
    put(&connection, BINDINGS, &binding("ann", "ann")).await;
    let list = Route::get("/api/v1/namespaces/default/configmaps");
    let pods = json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}]);
    let maps = json!([{"verbs": ["list"], "apiGroups": [""], "resources": ["configmaps"]}]);
    let dangling = ask(&connection, Some("ann"), &list).await;
    assert!(
        dangling
            .excerpt()
            .contains(r#"RBAC: clusterrole.rbac.authorization.k8s.io \"ann\" not found"#),
        "{}",
        dangling.excerpt()
    );
    for _ in 0..50 {
        put(&connection, ROLES, &role("ann", &maps)).await;
        assert_eq!(ask(&connection, Some("ann"), &list).await.status, 200);
        put(&connection, ROLES, &role("ann", &pods)).await;
        assert_eq!(ask(&connection, Some("ann"), &list).await.status, 403);
    }
}

#[tokio::test]
async fn nobody_writes_roles_beyond_their_own() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home).await;
    let write = json!([
        {"verbs": ["*"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterrolebindings"]},
        {"verbs": ["create", "get", "list", "patch", "update"], "apiGroups": ["rbac.authorization.k8s.io"],
            "resources": ["clusterroles"]},
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]},
    ]);
    put(&connection, ROLES, &role("ann", &write)).await;
    put(&connection, BINDINGS, &binding("ann", "ann")).await;
    let send = async |method: Method, path: &str, media_type: &'static str, body: &Value| {
        let request = connection.request(method, path).header("impersonate-user", "ann");
        let body: RequestBody = Bytes::from(body.to_string()).into();
        let request = request.header(CONTENT_TYPE, media_type).body(body).unwrap();
        connection.finish(request).await.unwrap()
    };
    const JSON: &str = "application/json";
    let own = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["p"]}]);
    let more = json!([{"verbs": ["delete"], "apiGroups": [""], "resources": ["pods"]}]);
    let made = send(Method::POST, ROLES, JSON, &role("small", &own)).await;
    assert_eq!(made.status, 201, "{}", made.excerpt());
    let path = format!("{ROLES}/small");
    let new = format!("{ROLES}/new");
    let aggregating = json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}});
    for (method, path, media_type, body) in [
        (Method::POST, ROLES, JSON, role("large", &more)),
        (Method::PUT, &path, JSON, role("small", &more)),
        (Method::PUT, &new, JSON, role("new", &more)),
        (
            Method::PATCH,
            &path,
            "application/merge-patch+json",
            json!({"rules": more}),
        ),
        (
            Method::PATCH,
            &path,
            "application/json-patch+json",
            json!([{"op": "replace", "path": "/rules", "value": more}]),
        ),
        (
            Method::PATCH,
            &path,
            "application/strategic-merge-patch+json",
            json!({"rules": more}),
        ),
        (
            Method::PATCH,
            &format!("{new}?fieldManager=a"),
            "application/apply-patch+yaml",
            role("new", &more),
        ),
        (
            Method::PATCH,
            &format!("{path}?fieldManager=a&force=true"),
            "application/apply-patch+yaml",
            role("small", &more),
        ),
        (Method::PATCH, &path, "application/merge-patch+json", aggregating),
        (Method::POST, BINDINGS, JSON, binding("cluster-admin", "ann")),
        (
            Method::PATCH,
            &format!("{BINDINGS}/cluster-admin"),
            "application/merge-patch+json",
            json!({"subjects": []}),
        ),
    ] {
        let answer = send(method.clone(), path, media_type, &body).await;
        assert_eq!(answer.status, 403, "{method} {path} {media_type}: {}", answer.excerpt());
        let expected = [
            "is attempting to grant RBAC permissions not currently held",
            "cluster-admin privileges",
        ];
        assert!(
            expected.iter().any(|text| answer.excerpt().contains(text)),
            "{}",
            answer.excerpt()
        );
    }
    let owners = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let finalizers = send(
        Method::PATCH,
        &format!("{BINDINGS}/cluster-admin"),
        "application/merge-patch+json",
        &owners,
    )
    .await;
    assert_eq!(finalizers.status, 200, "{}", finalizers.excerpt());
}
