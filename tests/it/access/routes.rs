//! Every route of a server, found in what it says about itself: discovery, OpenAPI and the list of its paths.

use std::fmt;

use http::Method;
use planesmith_e2e::Connection;
use serde_json::{Value, json};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// Paths that clients without credentials may read.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
/// Kinds that every user may create: questions about themselves.
const SELF_REVIEWS: [&str; 3] = [
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "selfsubjectreviews",
];

/// A request, and the rule that permits it and nothing else.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) media_type: &'static str,
    pub(crate) body: &'static str,
    /// `None` if the route does not say which right it needs.
    pub(crate) rule: Option<Value>,
    /// True if no credentials are needed.
    pub(crate) is_public: bool,
    /// True if every user with credentials has the right.
    pub(crate) is_for_everybody: bool,
}

impl Route {
    /// A read.
    pub(crate) fn get(path: &str) -> Self {
        Self::new(Method::GET, path.to_owned())
    }

    fn new(method: Method, path: String) -> Self {
        let (media_type, body) = match method {
            Method::PATCH => ("application/merge-patch+json", "{}"),
            Method::POST | Method::PUT => ("application/json", "{}"),
            _ => ("application/json", ""),
        };
        Self {
            method,
            path,
            media_type,
            body,
            rule: None,
            is_public: false,
            is_for_everybody: false,
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

fn items<'v>(value: &'v Value, list: &str) -> impl Iterator<Item = &'v Value> {
    value[list].as_array().into_iter().flatten()
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

/// Returns a request for each verb of each resource and subresource, and for each path that is not a resource.
pub(crate) async fn routes(connection: &Connection) -> Vec<Route> {
    let mut routes = Vec::new();
    for root in ["/api", "/apis"] {
        let groups = connection.get_json_as(root, DISCOVERY).await.unwrap();
        for group in items(&groups, "items") {
            let name = text(&group["metadata"], "name");
            for version in items(group, "versions") {
                let prefix = match name {
                    "" => format!("/api/{}", text(version, "version")),
                    name => format!("/apis/{name}/{}", text(version, "version")),
                };
                for resource in items(version, "resources") {
                    add_resource(&prefix, name, resource, &mut routes);
                }
            }
        }
    }
    let listed = connection.get_json("/").await.unwrap();
    for path in items(&listed, "paths").filter_map(Value::as_str) {
        // The endpoints of profiles run for as long as their client wants.
        let mut route = Route::get(path);
        route.rule = Some(json!({"verbs": ["get"], "nonResourceURLs": [path]}));
        route.is_public = PUBLIC.contains(&path);
        route.is_for_everybody = route.is_public || is_discovery(path);
        routes.push(route);
    }
    routes
}

/// True for the documents that every user with credentials may read.
fn is_discovery(path: &str) -> bool {
    ["/api", "/apis", "/openapi"].iter().any(|start| {
        path.strip_prefix(start)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

fn add_resource(prefix: &str, group: &str, resource: &Value, routes: &mut Vec<Route>) {
    let plural = text(resource, "resource");
    let collection = match text(resource, "scope") {
        "Namespaced" => format!("{prefix}/namespaces/default/{plural}"),
        _ => format!("{prefix}/{plural}"),
    };
    for verb in items(resource, "verbs").filter_map(Value::as_str) {
        add_verb(
            (group, plural),
            verb,
            &collection,
            &format!("{collection}/walk"),
            routes,
        );
    }
    for part in items(resource, "subresources") {
        let name = text(part, "subresource");
        let path = format!("{collection}/walk/{name}");
        for verb in items(part, "verbs").filter_map(Value::as_str) {
            add_verb((group, &format!("{plural}/{name}")), verb, &path, &path, routes);
        }
    }
}

fn add_verb((group, resource): (&str, &str), verb: &str, collection: &str, object: &str, routes: &mut Vec<Route>) {
    let (method, path) = match verb {
        "get" => (Method::GET, object.to_owned()),
        // A selector that no kind has ends the request after it was authorized.
        "list" => (Method::GET, format!("{collection}?fieldSelector=walk%3Dwalk")),
        "watch" => (Method::GET, format!("{collection}?watch=1&fieldSelector=walk%3Dwalk")),
        "create" => (Method::POST, format!("{collection}?dryRun=All")),
        "update" => (Method::PUT, format!("{object}?dryRun=All")),
        "patch" => (Method::PATCH, format!("{object}?dryRun=All")),
        "delete" => (Method::DELETE, format!("{object}?dryRun=All")),
        "deletecollection" => (Method::DELETE, format!("{collection}?dryRun=All")),
        other => panic!("a verb that the test does not know: {other} of {resource}"),
    };
    let mut route = Route::new(method, path);
    route.rule = Some(json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]}));
    route.is_for_everybody = verb == "create" && SELF_REVIEWS.contains(&resource);
    routes.push(route);
}

/// Returns a request for each path and method of the OpenAPI document, with names in place of its parameters.
pub(crate) async fn without_resource(connection: &Connection) -> Vec<Route> {
    let document = connection.get_json("/openapi/v2").await.unwrap();
    let paths = document["paths"].as_object().expect("paths");
    let mut routes = Vec::new();
    for (template, operations) in paths {
        let path = template
            .replace("{namespace}", "default")
            .replace("{name}", "walk")
            .replace("{path}", "walk");
        for method in ["get", "put", "post", "delete", "options", "head", "patch"] {
            if operations.get(method).is_none() {
                continue;
            }
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
            let mut route = Route::new(method, path.clone());
            route.is_public = PUBLIC.contains(&path.as_str());
            // Discovery, and the collections of reviews that everybody may create.
            let last = path.rsplit('/').next().unwrap_or_default();
            let is_document = operations["get"]["operationId"]
                .as_str()
                .is_some_and(|id| id.ends_with("APIResources"))
                || path.ends_with('/')
                || path == "/version"
                || path.starts_with("/openapi");
            route.is_for_everybody = is_document || SELF_REVIEWS.contains(&last);
            routes.push(route);
        }
    }
    routes
}
