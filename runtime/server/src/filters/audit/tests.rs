//! Records of requests, with a sink in memory.

use std::sync::Mutex;

use axum::Router;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Request;
use planesmith_access::audit::{Event, Failed, Policy, Sink};
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::feature::Features;
use tokio::sync::Notify;

use super::super::{Filters, PanicGuard, ReadInfo};
use super::*;
use crate::audit::AuditMeter;
use crate::connection::Connection;
use crate::sending::Answer;
use crate::shutdown::Stop;

/// Notes the stages that it is passed together.
#[derive(Debug, Default)]
struct Memory {
    is_strict: bool,
    calls: Mutex<Vec<String>>,
}

impl Sink for Memory {
    fn record(&self, events: &[Event<'_>]) -> Result<(), Failed> {
        let stages: Vec<String> = events
            .iter()
            .map(|event| format!("{}({})", event.stage.as_str(), event.annotations.len()))
            .collect();
        self.calls.lock().unwrap().push(stages.join(" "));
        Ok(())
    }

    fn is_strict(&self) -> bool {
        self.is_strict
    }
}

#[derive(Debug)]
struct NoMeter;

impl AuditMeter for NoMeter {
    fn recorded(&self, _: u64) {}

    fn rejected(&self) {}

    fn lost(&self, _: &'static str, _: u64) {}
}

/// Filters with an audit, and a handler that does what the name of the object says.
struct Server {
    filters: Filters,
    router: Router,
    sink: Arc<Memory>,
    /// Lets handlers that wait go on.
    go_on: Arc<Notify>,
}

impl Server {
    fn new(policy: &str, is_strict: bool) -> Self {
        let sink = Arc::new(Memory {
            is_strict,
            ..Memory::default()
        });
        let audit = Audit {
            policy: Policy::parse(policy.as_bytes()).unwrap(),
            sinks: vec![Arc::clone(&sink) as Arc<dyn Sink>],
            meter: Arc::new(NoMeter),
            clock: Arc::new(SystemClock),
        };
        let context = Arc::new(AuditContext {
            audit: Arc::new(audit),
            scheme: Arc::default(),
        });
        let filters = Filters::new(vec![
            Arc::new(PanicGuard),
            Arc::new(ReadInfo),
            Arc::new(AuditOfRefused(Arc::clone(&context))),
            Arc::new(Auditing(context)),
        ]);
        let (go_on, seen) = (Arc::new(Notify::new()), Arc::clone(&sink));
        let waits = Arc::clone(&go_on);
        let handler = move |request: Request<Body>| {
            let (waits, seen) = (Arc::clone(&waits), Arc::clone(&seen));
            async move {
                let name = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
                match name.as_str() {
                    "slow" => waits.notified().await,
                    "broken" => panic!("it is broken"),
                    _ => {}
                }
                request
                    .extensions()
                    .get::<crate::request::Context>()
                    .iter()
                    .for_each(|ctx| ctx.annotations.add("a", "1"));
                format!("{} calls before", seen.calls.lock().unwrap().len())
            }
        };
        Self {
            filters,
            router: Router::new().fallback(handler),
            sink,
            go_on,
        }
    }

    fn serve(&self, method: &str, name: &str) -> BoxFuture<'_, Answer> {
        let (_stop, shutdown) = Stop::new();
        let uri = format!("/api/v1/namespaces/n/pods/{name}");
        let request = Request::builder().method(method).uri(uri).body(Body::empty()).unwrap();
        let exchange = Exchange::new(request, Arc::new(Connection::default()), shutdown, Features::default());
        self.filters.serve(exchange, &self.router).boxed()
    }

    fn calls(&self) -> Vec<String> {
        self.sink.calls.lock().unwrap().clone()
    }
}

const METADATA: &str = r#"{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}"#;
const BOTH: &str = "RequestReceived(0) ResponseComplete(1)";

#[tokio::test]
async fn the_arrival_of_a_read_is_recorded_with_its_end() {
    let server = Server::new(METADATA, false);
    server.serve("GET", "quick").await;
    assert_eq!(server.calls(), [BOTH]);
}

#[tokio::test]
async fn the_arrival_of_a_read_that_waits_is_recorded_at_once() {
    let server = Server::new(METADATA, false);
    let mut answer = server.serve("GET", "slow");
    assert!((&mut answer).now_or_never().is_none());
    assert_eq!(server.calls(), ["RequestReceived(0)"]);
    server.go_on.notify_one();
    answer.await;
    assert_eq!(server.calls(), ["RequestReceived(0)", "ResponseComplete(1)"]);
}

#[tokio::test]
async fn a_read_whose_client_disconnects_has_both_events() {
    let server = Server::new(METADATA, false);
    let mut answer = server.serve("GET", "slow");
    assert!((&mut answer).now_or_never().is_none());
    drop(answer);
    assert_eq!(server.calls(), ["RequestReceived(0)", "ResponseComplete(0)"]);
}

#[tokio::test]
async fn a_read_that_panics_has_both_events() {
    let server = Server::new(METADATA, false);
    let answer = server.serve("GET", "broken").await;
    assert_eq!(answer.response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(server.calls(), ["RequestReceived(0) Panic(0)"]);
}

#[tokio::test]
async fn the_arrival_is_recorded_although_the_end_is_omitted() {
    let policy = METADATA.replace(r#""Metadata""#, r#""Metadata","omitStages":["ResponseComplete"]"#);
    let server = Server::new(&policy, false);
    server.serve("GET", "quick").await;
    assert_eq!(server.calls(), ["RequestReceived(0)"]);
}

#[tokio::test]
async fn nothing_is_held_back_for_writes_and_for_strict_sinks() {
    for (method, is_strict) in [("POST", false), ("DELETE", false), ("GET", true)] {
        let server = Server::new(METADATA, is_strict);
        let answer = server.serve(method, "quick").await;
        let body = axum::body::to_bytes(answer.response.into_body(), 1 << 10)
            .await
            .unwrap();
        assert_eq!(body, "1 calls before", "{method}");
        assert_eq!(
            server.calls(),
            ["RequestReceived(0)", "ResponseComplete(1)"],
            "{method}"
        );
    }
}
