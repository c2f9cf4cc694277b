//! Access by roles and bindings: every route and verb, changes that count at once, and escalation.

mod route;

use std::collections::BTreeSet;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use planesmith_e2e::{Answer, Binary, Connection, Home, RequestBody, Server};
use serde_json::{Value, json};

use self::route::{Audience, Route, discovered, documented};

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const LIST: &str = "/api/v1/namespaces/default/configmaps";

const JSON: &str = "application/json";

/// A user without rights of their own.
const STRANGER: &str = "stranger";

/// Every version and the resources of every feature, so that every route is walked.
const EVERYTHING: [&str; 2] = [
    "--runtime-config=api/all=true",
    "--feature-gates=ClusterTrustBundle=true,GenericWorkload=true,PodCertificateRequest=true,StorageVersionMigrator=true",
];

/// The number of requests that are under way at the same time.
const AT_ONCE: usize = 16;

async fn started(home: &Home, flags: &[&str]) -> (Server, Connection) {
    let binary = Binary::Planesmith.path().unwrap();
    let flags = [&["--storage=memory", "--controllers=-*"], flags].concat();
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

fn body_of(request: http::request::Builder, route: &Route) -> Request<RequestBody> {
    let (media_type, body) = route.content();
    let body: RequestBody = Bytes::from_static(body.as_bytes()).into();
    request.header(CONTENT_TYPE, media_type).body(body).unwrap()
}

/// Sends the request of a route in the name of `user`.
async fn request_as(connection: &Connection, user: &str, route: &Route) -> Answer {
    let request = connection.request(route.method.clone(), &route.path);
    let request = request.header("impersonate-user", user);
    connection.finish(body_of(request, route)).await.unwrap()
}

/// Sends the request of a route without credentials, over a connection of its own: the server closes it afterwards.
async fn request_without_credentials(server: &Server, route: &Route) -> u16 {
    let uri = format!("{}{}", server.endpoint().url(), route.path);
    let request = Request::builder().method(route.method.clone()).uri(uri);
    let connection = server.connect().await.unwrap();
    let answer = connection.finish(body_of(request, route)).await.unwrap();
    answer.status.as_u16()
}

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

/// True for an answer with which the authorizer refuses the verb of a route. Answers to HEAD have no body that would say so.
fn is_refused(answer: &Answer, route: &Route) -> bool {
    let verb = route.verb.map_or_else(String::new, |verb| format!("{verb} "));
    let says_so = || route.method == Method::HEAD || answer.excerpt().contains(&format!("cannot {verb}"));
    answer.status == 403 && says_so()
}

/// Defines a kind, so that its routes are walked, too.
async fn define_widgets(connection: &Connection) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}, "scale": scale},
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.walk.example.com"},
        "spec": {
            "group": "walk.example.com", "scope": "Namespaced", "versions": [version],
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        },
    });
    put_new(connection, DEFINITIONS, &definition).await;
    // The list is refused with 404 until the kind is served.
    for _ in 0..500 {
        let listed = connection.get("/apis/walk.example.com/v1/widgets").await.unwrap();
        if listed.status == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the defined kind is not served");
}

async fn put_new(connection: &Connection, collection: &str, object: &Value) {
    let answer = connection
        .call(Method::POST, collection, object.to_string())
        .await
        .unwrap();
    assert_eq!(answer.status, 201, "{collection}: {}", answer.excerpt());
}

/// The user who has the right of the route with this number, and no other one.
fn walker(number: usize) -> String {
    format!("walker-{number}")
}

/// Returns users who have the right of another route: of the next two, which are mostly about the same resource, and of one far away.
/// All pairs would be a million requests.
fn other_walkers(routes: &[Route], number: usize) -> Vec<String> {
    let steps = [1, 2, routes.len() / 2];
    let others = steps.map(|step| (number + step) % routes.len()).into_iter();
    let others = others.filter(|other| routes[*other].rule != routes[number].rule);
    others.map(walker).collect()
}

/// The users who send the request of a route.
#[derive(Default)]
struct Walkers {
    /// Has the right of the route, and no other one.
    own: Option<String>,
    /// They have rights of other routes.
    others: Vec<String>,
}

/// Returns what is wrong with the answers to one route.
async fn faults(server: &Server, connection: &Connection, walkers: Walkers, route: &Route) -> Vec<String> {
    let mut faults = Vec::new();
    let anonymous = request_without_credentials(server, route).await;
    if route.audience != Audience::Public && anonymous != 401 && anonymous != 403 {
        faults.push(format!("without credentials, {route}: {anonymous}"));
    }
    for user in std::iter::once(STRANGER).chain(walkers.others.iter().map(String::as_str)) {
        let answer = request_as(connection, user, route).await;
        if route.audience == Audience::Nobody && !is_refused(&answer, route) {
            faults.push(format!(
                "without the right, {user}, {route}: {} {}",
                answer.status,
                answer.excerpt()
            ));
        }
    }
    if let Some(user) = walkers.own {
        let walker = request_as(connection, &user, route).await;
        if walker.status == 401 || is_refused(&walker, route) {
            faults.push(format!(
                "with the right, {route}: {} {}",
                walker.status,
                walker.excerpt()
            ));
        }
    }
    faults
}

#[tokio::test]
async fn every_route_needs_exactly_its_own_right() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &EVERYTHING).await;
    define_widgets(&connection).await;
    let discovered = discovered(&connection).await;
    assert!(discovered.len() > 1000, "{} routes", discovered.len());
    let rules: Vec<Value> = discovered.iter().filter_map(|route| route.rule.clone()).collect();
    assert_eq!(rules.len(), discovered.len(), "each route has its walker");
    let make_walker = async |(number, rule): (usize, &Value)| {
        let name = walker(number);
        put_new(&connection, ROLES, &role(&name, &json!([rule]))).await;
        put_new(&connection, BINDINGS, &binding(&name, &name)).await;
    };
    let walkers = stream::iter(rules.iter().enumerate()).map(make_walker);
    walkers.buffer_unordered(AT_ONCE).collect::<()>().await;

    let checks = discovered.iter().enumerate().map(|(number, route)| {
        let walkers = Walkers {
            own: Some(walker(number)),
            others: other_walkers(&discovered, number),
        };
        faults(&server, &connection, walkers, route)
    });
    let faults = stream::iter(checks).buffer_unordered(AT_ONCE);
    let faults: Vec<String> = faults.flat_map(stream::iter).collect().await;
    assert!(
        faults.is_empty(),
        "{} of {}: {faults:#?}",
        faults.len(),
        discovered.len()
    );
}

#[tokio::test]
async fn documented_paths_are_no_way_around() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &EVERYTHING).await;
    let documented = documented(&connection).await;
    assert!(documented.len() > 1000, "{} paths", documented.len());
    let known: BTreeSet<String> = discovered(&connection).await.iter().map(Route::key).collect();
    let further: Vec<Route> = documented
        .into_iter()
        .filter(|route| !known.contains(&route.key()))
        .collect();
    assert!(
        further.len() > 100,
        "{} paths besides those in discovery",
        further.len()
    );
    let checks = further
        .iter()
        .map(|route| faults(&server, &connection, Walkers::default(), route));
    let faults = stream::iter(checks).buffer_unordered(AT_ONCE);
    let faults: Vec<String> = faults.flat_map(stream::iter).collect().await;
    assert!(faults.is_empty(), "{} of {}: {faults:#?}", faults.len(), further.len());
}

#[tokio::test]
async fn a_change_counts_from_the_next_request_on() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home, &[]).await;
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

#[tokio::test]
async fn no_user_writes_roles_beyond_its_own() {
    let home = Home::new().unwrap();
    let (_server, connection) = started(&home, &[]).await;
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
