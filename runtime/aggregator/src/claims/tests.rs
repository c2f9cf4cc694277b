use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::response::Response;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_access::authentication::Chain;
use planesmith_access::authorization::AlwaysAllow;
use planesmith_server::chain::ApiServer;
use planesmith_server::connection::Connection;
use planesmith_server::lifecycle::{Config, PreparedServer};
use planesmith_server::request::Context;
use planesmith_server::routes::{Routes, VersionHandler};

use super::Claims;

/// Another server, which returns the requests it receives.
struct Remote(&'static str);

impl VersionHandler for Remote {
    fn serve(self: Arc<Self>, ctx: Context, _: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async move { Response::new(format!("{}: {}", self.0, ctx.info.path()).into()) })
    }
}

async fn get(server: &PreparedServer, path: &str) -> String {
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    let code = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    format!("{code} {}", String::from_utf8_lossy(&body).trim_end())
}

#[tokio::test]
async fn a_claimed_version_hides_what_is_further_in() {
    let mut inner = Routes::new();
    inner.claim("metrics.example.com", "v1", Arc::new(Remote("inner")));
    inner.claim("metrics.example.com", "v2", Arc::new(Remote("inner")));
    let mut aggregator = ApiServer::new("aggregator", Routes::new());
    let claims = Claims::of(&mut aggregator);
    let chain = aggregator.in_front_of(ApiServer::new("core", inner));
    let config = Config::new(Arc::new(Chain::new(vec![], true)), Arc::new(AlwaysAllow));
    let server = config.complete().unwrap().prepare(chain).unwrap();
    let (first, second) = (
        "/apis/metrics.example.com/v1/nodes",
        "/apis/metrics.example.com/v2/nodes",
    );
    assert_eq!(get(&server, first).await, format!("200 inner: {first}"));

    claims.claim("metrics.example.com", "v1", Arc::new(Remote("remote")));
    assert_eq!(get(&server, first).await, format!("200 remote: {first}"));
    assert_eq!(get(&server, second).await, format!("200 inner: {second}"));
    assert_eq!(
        get(&server, "/apis/metrics.example.com/v1").await,
        "200 remote: /apis/metrics.example.com/v1"
    );
    let group = get(&server, "/apis/metrics.example.com").await;
    assert!(
        group.contains(r#""groupVersion":"metrics.example.com/v1""#) && group.contains("v2"),
        "{group}"
    );

    claims.release("metrics.example.com", "v1");
    assert_eq!(get(&server, first).await, format!("200 inner: {first}"));
}
