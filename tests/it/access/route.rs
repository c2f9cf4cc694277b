//! The routes of a server, found in its documents about itself: discovery, OpenAPI and the list of its paths.

use std::fmt;

use http::Method;
use planesmith_e2e::Connection;
use serde_json::{Value, json};

const DISCOVERY: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// Paths that clients without credentials may read by the default roles.
const PUBLIC: [&str; 5] = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
/// Resources that every user with credentials may create: reviews of their own rights.
const SELF_REVIEWS: [&str; 3] = [
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
    "selfsubjectreviews",
];

/// The users who may send a request without a role of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// All clients.
    Public,
    /// Users with credentials.
    Authenticated,
    /// No user.
    Nobody,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: String,
    /// The verb that the authorizer sees; `None` if the document does not say.
    pub(super) verb: Option<&'static str>,
    /// The rule that permits the request and nothing else; `None` if the document does not say.
    pub(super) rule: Option<Value>,
    pub(super) audience: Audience,
}

impl Route {
    /// Returns the method, and the path without its query.
    pub(super) fn key(&self) -> String {
        format!("{} {}", self.method, self.path.split('?').next().unwrap_or_default())
    }

    /// Returns the media type and the body.
    pub(super) fn content(&self) -> (&'static str, &'static str) {
        match self.method {
            Method::PATCH => ("application/merge-patch+json", "{}"),
            Method::POST | Method::PUT => ("application/json", "{}"),
            _ => ("application/json", ""),
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

/// Returns a request for each verb of each resource and subresource in discovery, and for each path of the route table.
pub(super) async fn discovered(connection: &Connection) -> Vec<Route> {
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
        routes.push(Route {
            method: Method::GET,
            path: path.to_owned(),
            verb: Some("get"),
            rule: Some(json!({"verbs": ["get"], "nonResourceURLs": [path]})),
            audience: audience_of_path(path),
        });
    }
    routes
}

fn audience_of_path(path: &str) -> Audience {
    let is_below = |root: &str| {
        path.strip_prefix(root)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if PUBLIC.contains(&path) {
        Audience::Public
    } else if ["/api", "/apis", "/openapi"].into_iter().any(is_below) {
        Audience::Authenticated
    } else {
        Audience::Nobody
    }
}

fn add_resource(prefix: &str, group: &str, resource: &Value, routes: &mut Vec<Route>) {
    let plural = text(resource, "resource");
    let collection = match text(resource, "scope") {
        "Namespaced" => format!("{prefix}/namespaces/default/{plural}"),
        _ => format!("{prefix}/{plural}"),
    };
    let object = format!("{collection}/walk");
    for verb in items(resource, "verbs").filter_map(Value::as_str) {
        routes.push(of_verb((group, plural), verb, &collection, &object));
    }
    for part in items(resource, "subresources") {
        let name = text(part, "subresource");
        let path = format!("{object}/{name}");
        for verb in items(part, "verbs").filter_map(Value::as_str) {
            routes.push(of_verb((group, &format!("{plural}/{name}")), verb, &path, &path));
        }
    }
}

fn of_verb((group, resource): (&str, &str), verb: &str, collection: &str, object: &str) -> Route {
    let (name, method, path) = match verb {
        "get" => ("get", Method::GET, object.to_owned()),
        // A selector that no kind supports ends the request after it was authorized.
        "list" => ("list", Method::GET, format!("{collection}?fieldSelector=walk%3Dwalk")),
        "watch" => (
            "watch",
            Method::GET,
            format!("{collection}?watch=1&fieldSelector=walk%3Dwalk"),
        ),
        "create" => ("create", Method::POST, format!("{collection}?dryRun=All")),
        "update" => ("update", Method::PUT, format!("{object}?dryRun=All")),
        "patch" => ("patch", Method::PATCH, format!("{object}?dryRun=All")),
        "delete" => ("delete", Method::DELETE, format!("{object}?dryRun=All")),
        "deletecollection" => ("deletecollection", Method::DELETE, format!("{collection}?dryRun=All")),
        other => panic!("a verb that the test does not know: {other} of {resource}"),
    };
    let is_self_review = verb == "create" && SELF_REVIEWS.contains(&resource);
    Route {
        method,
        path,
        verb: Some(name),
        rule: Some(json!({"verbs": [verb], "apiGroups": [group], "resources": [resource]})),
        audience: if is_self_review {
            Audience::Authenticated
        } else {
            Audience::Nobody
        },
    }
}

/// Returns a request for each path and method of the OpenAPI document, with names in place of its parameters.
pub(super) async fn documented(connection: &Connection) -> Vec<Route> {
    let document = connection.get_json("/openapi/v2").await.unwrap();
    let mut routes = Vec::new();
    for (template, operations) in document["paths"].as_object().expect("paths") {
        let mut path = template.clone();
        for (parameter, value) in [("{namespace}", "default"), ("{name}", "walk"), ("{path}", "walk")] {
            path = path.replace(parameter, value);
        }
        assert!(!path.contains('{'), "a parameter that the test does not know: {path}");
        let last = path.rsplit('/').next().unwrap_or_default();
        let is_document = |operation: &Value| text(operation, "operationId").ends_with("APIResources");
        let audience = if is_document(&operations["get"]) || path.ends_with('/') || SELF_REVIEWS.contains(&last) {
            match audience_of_path(&path) {
                Audience::Public => Audience::Public,
                _ => Audience::Authenticated,
            }
        } else if path.starts_with("/api") {
            Audience::Nobody
        } else {
            audience_of_path(&path)
        };
        for method in ["get", "put", "post", "delete", "options", "head", "patch"] {
            if operations.get(method).is_none() {
                continue;
            }
            routes.push(Route {
                method: Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method"),
                path: path.clone(),
                verb: None,
                rule: None,
                audience,
            });
        }
    }
    routes
}
