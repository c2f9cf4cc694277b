use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use axum::routing::get;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use planesmith_access::authentication::{BearerTokens, Chain, TokenFile};
use planesmith_access::authorization::{AlwaysAllow, AlwaysDeny, Authorizer, PrivilegedGroup, Union};
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::resource::Scope;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::{Config, PreparedServer, RunError, Signal, Signals};
use crate::chain::ApiServer;
use crate::connection::Connection;
use crate::discovery::{ServedResource, ServedSubresource};
use crate::hooks::{Hook, HookError};
use crate::in_flight::InFlightLimits;
use crate::listener::Listener;
use crate::request::{Context, Verb};
use crate::routes::{ResourceHandler, Routes};

mod answers;
mod hardening;
mod running;
mod unread;

/// Size of the large echo, in bytes.
const LARGE: usize = 1 << 20;

/// A resource whose handler returns the request's details, panics or waits, depending on the name.
struct Echo {
    facts: ServedResource,
    waiting: Arc<Notify>,
}

impl Echo {
    fn new(group: &'static str, plural: &'static str, scope: Scope, verbs: &[Verb]) -> Self {
        let facts = ServedResource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            singular: "echo".into(),
            kind: "Echo".into(),
            short_names: vec![],
            categories: vec![],
            scope,
            verbs: verbs.to_vec(),
            hidden_verbs: Vec::new(),
            is_custom: false,
            stored_as: None,
            subresources: vec![ServedSubresource {
                name: "status".into(),
                kind: None,
                verbs: vec![Verb::Get, Verb::Update],
                open_ended: false,
            }],
        };
        Self {
            facts,
            waiting: Arc::default(),
        }
    }
}

impl ResourceHandler for Echo {
    fn facts(&self) -> &ServedResource {
        &self.facts
    }

    fn serve(self: Arc<Self>, mut ctx: Context, request: Request<Body>) -> BoxFuture<'static, Response> {
        Box::pin(async move {
            match ctx.info.name() {
                "panics" => panic!("on purpose"),
                "warns" => ctx.warnings.add("beware of \"échoes\""),
                "reads-body" => drop(request.into_body().collect().await),
                "waits" => {
                    self.waiting.notify_one();
                    std::future::pending::<()>().await;
                }
                "until-stop" => {
                    self.waiting.notify_one();
                    ctx.shutdown.requested().await;
                }
                "large" => return Response::new(Body::from(vec![b'x'; LARGE])),
                "pieces" => {
                    let pieces = (0..LARGE >> 15).map(|_| Ok::<_, std::convert::Infallible>(vec![b'x'; 1 << 15]));
                    return Response::new(Body::from_stream(futures_util::stream::iter(pieces)));
                }
                _ => {}
            }
            let info = &ctx.info;
            let text = format!(
                "{} {} {} {}",
                info.verb(),
                info.resource(),
                info.name(),
                info.subresource()
            );
            Response::new(text.trim_end().to_owned().into())
        })
    }
}

fn config(authorizer: impl Authorizer + 'static) -> Config {
    let tokens = TokenFile::parse("root,root,0,system:masters\nbob,bob,1\n").unwrap();
    let authorizer = Union::new(vec![Box::new(PrivilegedGroup), Box::new(authorizer)]);
    Config::new(
        Arc::new(Chain::new(
            vec![Box::new(BearerTokens::new(
                vec![Box::new(tokens)],
                Vec::new(),
                Arc::new(SystemClock),
            ))],
            true,
        )),
        Arc::new(authorizer),
    )
}

fn chain() -> ApiServer {
    let mut core = Routes::new();
    core.add(Arc::new(Echo::new("", "echoes", Scope::Namespaced, &Verb::STORED)));
    core.add(Arc::new(Echo::new("", "reviews", Scope::Cluster, &[Verb::Create])));
    core.add(Arc::new(Echo::new("apps", "things", Scope::Cluster, &Verb::STORED)));
    let mut custom = Routes::new();
    custom.open_group("custom.example.com");
    custom.add(Arc::new(Echo::new(
        "custom.example.com",
        "widgets",
        Scope::Namespaced,
        &Verb::STORED,
    )));
    let extensions = ApiServer::new("extensions", custom).with_path("/from/extensions", get(|| async { "here" }));
    ApiServer::new("aggregator", Routes::new()).in_front_of(ApiServer::new("core", core).in_front_of(extensions))
}

fn prepared(config: Config) -> PreparedServer {
    config.complete().unwrap().prepare(chain()).unwrap()
}

/// Sends a request to a server whose paths are all installed; `METHOD PATH`, and a token unless it is empty.
async fn send(server: &PreparedServer, request: &str, token: &str) -> (StatusCode, HeaderMap, String) {
    let (method, path) = request.split_once(' ').unwrap();
    let mut request = Request::builder().method(Method::try_from(method).unwrap()).uri(path);
    if !token.is_empty() {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Body::empty()).unwrap();
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, head.headers, String::from_utf8(body.to_vec()).unwrap())
}
