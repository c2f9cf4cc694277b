//! Records of requests, with a sink in memory.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use axum::Router;
use axum::response::IntoResponse as _;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Request;
use http::header::ACCEPT;
use http_body::{Body as HttpBody, Frame, SizeHint};
use planesmith_access::audit::{Event, Failed, Policy, Recording, Sink};
use planesmith_machinery::clock::SystemClock;
use planesmith_machinery::feature::Features;
use tokio::sync::Notify;

use super::super::{Filters, PanicGuard, ReadInfo};
use super::*;
use crate::audit::AuditMeter;
use crate::connection::Connection;
use crate::response::{self, Relayed};
use crate::sending::Answer;
use crate::shutdown::Stop;

/// Notes the stages that it is passed together.
#[derive(Debug, Default)]
struct Memory {
    is_strict: bool,
    calls: Mutex<Vec<String>>,
    /// The results and the objects of answers.
    answers: Mutex<Vec<(String, String)>>,
    /// Each recording that a request can wait for ends with a notification; at once without one.
    ends: Option<Arc<Notify>>,
}

impl Sink for Memory {
    fn record(&self, events: &[Event<'_>]) -> Result<(), Failed> {
        let stages: Vec<String> = events
            .iter()
            .map(|event| format!("{}({})", event.stage.as_str(), event.annotations.len()))
            .collect();
        self.calls.lock().unwrap().push(stages.join(" "));
        let text = |json: &[u8]| String::from_utf8_lossy(json).into_owned();
        let ends = events.iter().filter(|event| event.stage == Stage::ResponseComplete);
        let answers = ends.map(|event| (text(event.status), text(event.response_object)));
        self.answers.lock().unwrap().extend(answers);
        Ok(())
    }

    fn begin(&self, events: &[Event<'_>]) -> Recording {
        let recorded = self.record(events);
        let is_strict = self.is_strict;
        match self.ends.clone() {
            None => recorded.into(),
            Some(ends) => Outcome::pending(async move {
                ends.notified().await;
                match is_strict {
                    true => Err(Failed("the disk is full".to_owned())),
                    false => Ok(()),
                }
            }),
        }
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
        Self::with(
            policy,
            Memory {
                is_strict,
                ..Memory::default()
            },
        )
    }

    fn with(policy: &str, sink: Memory) -> Self {
        let sink = Arc::new(sink);
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
                let (parts, _) = request.into_parts();
                match name.as_str() {
                    "refused" => return response::failure(&parts, &ApiError::bad_request("no")),
                    "pieces" => {
                        return response::stream(StatusCode::OK, "application/json", Body::new(Pieces::of_list()));
                    }
                    "version" => return response::bytes(StatusCode::OK, "application/json", "{}"),
                    "relayed" => {
                        let mut answer = response::failure(&parts, &ApiError::bad_request("no"));
                        answer.extensions_mut().insert(Relayed);
                        return answer;
                    }
                    "slow" => waits.notified().await,
                    "broken" => panic!("it is broken"),
                    _ => {}
                }
                parts
                    .extensions
                    .get::<crate::request::Context>()
                    .iter()
                    .for_each(|ctx| ctx.annotations.add("a", "1"));
                format!("{} calls before", seen.calls.lock().unwrap().len()).into_response()
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
        self.send(method, &format!("/api/v1/namespaces/n/pods/{name}"), "")
    }

    fn send(&self, method: &str, uri: &str, accept: &str) -> BoxFuture<'_, Answer> {
        let (_stop, shutdown) = Stop::new();
        let request = Request::builder().method(method).uri(uri).header(ACCEPT, accept);
        let request = request.body(Body::empty()).unwrap();
        let exchange = Exchange::new(request, Arc::new(Connection::default()), shutdown, Features::default());
        self.filters.serve(exchange, &self.router).boxed()
    }

    fn calls(&self) -> Vec<String> {
        self.sink.calls.lock().unwrap().clone()
    }
}

/// A body of several frames whose length is known.
struct Pieces(Vec<&'static str>);

impl Pieces {
    fn of_list() -> Self {
        Self(vec![r#""items":[]}"#, r#"{"kind":"PodList","#])
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop().map(|piece| Ok(Frame::data(piece.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
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

#[tokio::test]
async fn answers_wait_for_their_recordings_and_handlers_of_writes_for_the_arrival() {
    for (method, stages) in [
        ("GET", vec![BOTH]),
        ("POST", vec!["RequestReceived(0)", "ResponseComplete(1)"]),
    ] {
        let ends = Arc::new(Notify::new());
        let memory = Memory {
            ends: Some(Arc::clone(&ends)),
            ..Memory::default()
        };
        let server = Server::with(METADATA, memory);
        let mut answer = server.serve(method, "quick");
        for recorded in 1..=stages.len() {
            assert!((&mut answer).now_or_never().is_none(), "{method} waits for {recorded}");
            assert_eq!(server.calls(), stages[..recorded]);
            ends.notify_one();
        }
        assert_eq!(answer.await.response.status(), StatusCode::OK, "{method}");
    }
}

#[tokio::test]
async fn a_request_is_refused_when_its_pending_arrival_is_not_recorded() {
    let ends = Arc::new(Notify::new());
    let memory = Memory {
        is_strict: true,
        ends: Some(Arc::clone(&ends)),
        ..Memory::default()
    };
    let server = Server::with(METADATA, memory);
    let mut answer = server.serve("GET", "quick");
    assert!((&mut answer).now_or_never().is_none());
    ends.notify_one();
    assert!((&mut answer).now_or_never().is_none(), "the refusal is recorded, too");
    ends.notify_one();
    let answer = answer.await;
    assert_eq!(answer.response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(server.calls(), ["RequestReceived(0)", "ResponseComplete(0)"]);
}

const WHOLE: &str = r#"{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"RequestResponse"}]}"#;

/// The result and the object that are recorded for a GET.
async fn recorded(uri: &str, accept: &str) -> (String, String) {
    let server = Server::new(WHOLE, false);
    let answer = server.send("GET", uri, accept).await;
    axum::body::to_bytes(answer.response.into_body(), 1 << 10)
        .await
        .unwrap();
    let mut answers = server.sink.answers.lock().unwrap().clone();
    answers.pop().unwrap()
}

#[tokio::test]
async fn objects_are_recorded_whatever_the_path() {
    for path in ["/api/v1/namespaces/n/pods", "/nowhere"] {
        let (status, object) = recorded(&format!("{path}/refused"), "").await;
        assert!(status.contains(r#""reason":"BadRequest""#), "{status}");
        assert!(object.starts_with(r#"{"kind":"Status","apiVersion":"v1""#), "{object}");
        let (_, object) = recorded(&format!("{path}/pieces"), "").await;
        assert_eq!(object, r#"{"kind":"PodList","items":[]}"#);
    }
    assert_eq!(recorded("/version", "").await.1, "");
}

#[tokio::test]
async fn answers_that_are_not_encoded_for_the_client_are_recorded_by_their_code() {
    let code = (r#"{"metadata":{},"code":400}"#.to_owned(), String::new());
    assert_eq!(recorded("/api/v1/pods/refused", "text/html").await, code);
    assert_eq!(recorded("/api/v1/pods/relayed", "").await, code);
}
