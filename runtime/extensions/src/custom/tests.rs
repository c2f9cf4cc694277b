use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_access::authentication::Chain;
use planesmith_access::authorization::AlwaysAllow;
use planesmith_machinery::resource::Scope;
use planesmith_server::chain::ApiServer;
use planesmith_server::connection::Connection;
use planesmith_server::discovery::ServedResource;
use planesmith_server::lifecycle::{Config, PreparedServer};
use planesmith_server::request::{Context, Verb};
use planesmith_server::routes::{ResourceHandler, Routes};

use super::CustomResources;

struct Widgets(ServedResource);

impl ResourceHandler for Widgets {
    fn facts(&self) -> &ServedResource {
        &self.0
    }

    fn serve(self: Arc<Self>, _: Context, _: Request<Body>) -> BoxFuture<'static, Response> {
        let version = self.0.version.clone();
        Box::pin(async move { Response::new(format!("a widget of {version}").into()) })
    }
}

fn widgets(version: &'static str) -> Arc<dyn ResourceHandler> {
    Arc::new(Widgets(ServedResource {
        group: "example.com".into(),
        version: version.into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        kind: "Widget".into(),
        short_names: vec![],
        categories: vec![],
        scope: Scope::Namespaced,
        verbs: Verb::STORED.to_vec(),
        hidden_verbs: Vec::new(),
        is_custom: false,
        stored_as: None,
        subresources: vec![],
    }))
}

async fn get(server: &PreparedServer, path: &str) -> String {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    let code = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    format!("{code} {}", String::from_utf8_lossy(&body).trim_end())
}

#[tokio::test]
async fn resources_come_and_go_while_serving() {
    let mut server = ApiServer::new("extensions", Routes::new());
    let custom = CustomResources::of(&mut server);
    let config = Config::new(Arc::new(Chain::new(vec![], true)), Arc::new(AlwaysAllow));
    let mut server = config.complete().unwrap().prepare(server).unwrap();
    server.set_installed();
    let object = |version| format!("/apis/example.com/{version}/namespaces/n/widgets/w");
    assert_eq!(get(&server, &object("v1")).await, "404 404 page not found");

    custom.define("widgets.example.com", vec![widgets("v1"), widgets("v1beta1")]);
    assert_eq!(get(&server, &object("v1")).await, "200 a widget of v1");
    assert_eq!(get(&server, &object("v1beta1")).await, "200 a widget of v1beta1");
    assert!(
        get(&server, "/apis/example.com")
            .await
            .contains(r#""preferredVersion":{"groupVersion":"example.com/v1""#)
    );
    assert_eq!(
        get(&server, "/apis/example.com/v1/gadgets").await,
        "404 404 page not found"
    );

    custom.define("widgets.example.com", vec![widgets("v1")]);
    assert_eq!(get(&server, &object("v1beta1")).await, "404 404 page not found");

    custom.remove("widgets.example.com");
    assert_eq!(get(&server, &object("v1")).await, "404 404 page not found");
    assert_eq!(get(&server, "/apis/example.com").await, "404 404 page not found");
}
