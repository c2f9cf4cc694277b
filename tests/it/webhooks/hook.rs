//! An admission webhook: a TLS server in the test, which answers each path in its own way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{Response, StatusCode, Uri};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::base64::encoded;
use crate::tls_server::TlsServer;

/// Returns the response to a request, without its uid.
type Answer = Box<dyn Fn(&Value) -> Value + Send>;

/// A webhook. It stops when dropped.
pub(super) struct Hook {
    server: TlsServer,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, Answer>,
    calls: Vec<WebhookCall>,
}

/// A request to the webhook.
#[derive(Clone, Debug)]
pub(super) struct WebhookCall {
    pub(super) path: String,
    pub(super) query: String,
    /// The review as it was sent.
    pub(super) text: String,
    /// The request in the review.
    pub(super) request: Value,
}

impl Hook {
    /// Starts a webhook without paths.
    pub(super) async fn start() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let answering = Arc::clone(&state);
        let server = TlsServer::start(&["hook.default.svc"], move |uri, body| answer(uri, body, &answering)).await;
        Self { server, state }
    }

    /// Answers requests for `path` with `answer`.
    pub(super) fn on(&self, path: &str, answer: impl Fn(&Value) -> Value + Send + 'static) {
        self.state().answers.insert(path.to_owned(), Box::new(answer));
    }

    /// Returns and clears the recorded requests.
    pub(super) fn calls(&self) -> Vec<WebhookCall> {
        std::mem::take(&mut self.state().calls)
    }

    /// Returns the number of connections so far.
    pub(super) fn connections(&self) -> usize {
        self.server.connections()
    }

    /// Returns a client configuration for `path`.
    pub(super) fn client(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.server.url());
        json!({"url": url, "caBundle": encoded(self.server.certificate().as_bytes())})
    }

    /// Returns the port.
    pub(super) fn port(&self) -> u16 {
        self.server.port()
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(&mut self) {
        self.server.stop().await;
    }

    /// Listens again on the same port.
    pub(super) async fn restart(&mut self) {
        self.server.restart().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(uri: &Uri, body: &[u8], state: &Mutex<State>) -> Response<Full<Bytes>> {
    let path = uri.path().to_owned();
    let query = uri.query().unwrap_or_default().to_owned();
    let review: Value = serde_json::from_slice(body).unwrap();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let request = review["request"].clone();
    let mut response = Response::new(Full::default());
    match state.answers.get(&path) {
        None => *response.status_mut() = StatusCode::NOT_FOUND,
        Some(answer) => {
            let mut decision = answer(&request);
            decision["uid"] = request["uid"].clone();
            let body = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": decision});
            *response.body_mut() = Full::from(body.to_string());
        }
    }
    let text = String::from_utf8_lossy(body).into_owned();
    state.calls.push(WebhookCall {
        path,
        query,
        text,
        request,
    });
    response
}

/// The response that admits a request.
pub(super) fn allowed(_: &Value) -> Value {
    json!({"allowed": true})
}

/// The response that changes the object by a JSON patch.
pub(super) fn patched(operations: &Value) -> Value {
    let patch = encoded(operations.to_string().as_bytes());
    json!({"allowed": true, "patchType": "JSONPatch", "patch": patch})
}
