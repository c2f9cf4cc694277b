use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::{Method, Request, Uri};
use planesmith_machinery::resource::Scope;

use super::{Found, ResourceHandler, RouteTable, Routes};
use crate::discovery::{ServedResource, ServedSubresource};
use crate::request::{Context, RequestInfo, Verb};

struct Silent(ServedResource);

impl ResourceHandler for Silent {
    fn facts(&self) -> &ServedResource {
        &self.0
    }

    fn serve(self: Arc<Self>, _: Context, _: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async { Response::default() })
    }
}

fn resource(group: &'static str, plural: &'static str, verbs: &[Verb]) -> Silent {
    let subresource = |name: &'static str, open_ended| ServedSubresource {
        name: name.into(),
        kind: None,
        verbs: vec![Verb::Get, Verb::Patch, Verb::Update],
        open_ended,
    };
    Silent(ServedResource {
        group: group.into(),
        version: "v1".into(),
        plural: plural.into(),
        singular: "single".into(),
        kind: "Kind".into(),
        short_names: vec![],
        categories: vec![],
        scope: Scope::Namespaced,
        verbs: verbs.to_vec(),
        hidden_verbs: Vec::new(),
        is_custom: false,
        stored_as: None,
        subresources: vec![subresource("status", false), subresource("proxy", true)],
    })
}

/// Resources that are declared, and one that is not.
fn table() -> RouteTable {
    let mut routes = Routes::new();
    routes.open_group("ex.com");
    routes.add(Arc::new(resource("ex.com", "foos", &Verb::STORED)));
    routes.add(Arc::new(resource("", "pods", &Verb::STORED)));
    routes.add(Arc::new(resource("", "reviews", &[Verb::Create])));
    routes.build()
}

/// The result for `METHOD PATH`.
fn check(request: &str, expected: &str) {
    let (method, path) = request.split_once(' ').unwrap();
    let uri: Uri = path.parse().unwrap();
    let info = RequestInfo::new(&Method::try_from(method).unwrap(), &uri);
    let found = match info.is_resource() {
        true => table().find(&info),
        false => table().find_document(&info),
    };
    let found = match found {
        Found::Handler(handler) => format!("{} {}", info.verb(), handler.facts().plural),
        Found::Refused(error) => error.message().to_owned(),
        Found::Document(_) => "Document".to_owned(),
        Found::DocumentAbove(_) => "DocumentAbove".to_owned(),
        other => format!("{other:?}"),
    };
    assert_eq!(found, expected, "{request}");
}

#[test]
fn declared_resources_have_a_route_for_each_method() {
    check("GET /api/v1/namespaces/a/pods/p", "get pods");
    check("HEAD /api/v1/namespaces/a/pods/p", "OtherMethod");
    check("GET /api/v1/namespaces/a/pods/p/status/x", "Nothing");
    check("GET /api/v1/pods/p", "Nothing");
    check("GET /api/v1/watch/pods", "watch pods");
    check("POST /api/v1/watch/pods", "OtherMethod");
    check("GET /api/v1/watch/namespaces/a/pods/p/status", "Nothing");
    check("GET /api/v1/watch/namespaces/a/reviews", "Nothing");
    check("GET /api/v1/namespaces/a/reviews?watch=1", "OtherMethod");
    check("GET /api/v1/proxy/namespaces/a/pods/p", "Nothing");
    check("HEAD /api/v1/namespaces/a/pods/p/proxy/x", "get pods");
    check("OPTIONS /api/v1/namespaces/a/pods/p/proxy/x", " pods");
    check("TRACE /api/v1/namespaces/a/pods/p/proxy/x", "OtherMethod");
    check("GET /api/v1", "Document");
    check("HEAD /api/v1", "OtherMethod");
}

#[test]
fn custom_resources_are_routed_by_verb_alone() {
    check("HEAD /apis/ex.com/v1/namespaces/a/foos/f", "get foos");
    check("HEAD /apis/ex.com/v1/namespaces/a/foos", "list foos");
    check("HEAD /apis/ex.com/v1/foos", "list foos");
    check("HEAD /apis/ex.com/v1/namespaces/a/foos/f/status", "get foos");
    check("GET /apis/ex.com/v1/namespaces/a/foos/f/status/x", "get foos");
    check("GET /apis/ex.com/v1/watch/foos/f", "watch foos");
    check("GET /apis/ex.com/v1/foos/f", "Elsewhere");
    check("DELETE /apis/ex.com/v1/watch/namespaces/a/foos", "watch foos");
    let refused = |verb: &str| format!("{verb} is not supported on resources of kind \"foos.ex.com\"");
    check(
        "GET /apis/ex.com/v1/watch/namespaces/a/foos/f/status",
        &refused("watch"),
    );
    check("GET /apis/ex.com/v1/proxy/namespaces/a/foos", &refused("proxy"));
    check("GET /apis/ex.com/v1/proxy/foos", "Elsewhere");
    check("POST /apis/ex.com/v1", "DocumentAbove");
    // The handler checks the type of the patch before it misses the name.
    check("PATCH /apis/ex.com/v1/namespaces/a/foos", "patch foos");
    check("PATCH /apis/ex.com/v1/foos", "Elsewhere");
}

#[test]
fn the_group_without_a_name_has_a_path_of_its_own() {
    check("GET /apis//v1/pods", "Elsewhere");
    check("GET /apis//v1", "Elsewhere");
}
