//! A conversion webhook: a TLS server in the test, with configurable responses.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Response, StatusCode, Uri};
use http_body_util::Full;
use serde_json::{Value, json};

use crate::tls_server::TlsServer;

/// The name of the certificate's service in the namespace `default`.
pub(super) const SERVICE: &str = "sails";

/// Modifies a response before it is sent.
pub(super) type Spoil = fn(&mut Value);

/// A webhook. It stops when dropped.
pub(super) struct Hook {
    pub(super) port: u16,
    /// The certificate, in PEM.
    pub(super) certificate: String,
    state: Arc<Mutex<State>>,
    server: TlsServer,
}

#[derive(Default)]
struct State {
    calls: Vec<Value>,
    spoil: Option<Spoil>,
    refusal: Option<(StatusCode, &'static str)>,
}

impl Hook {
    /// Starts a webhook that converts correctly.
    pub(super) async fn start() -> Self {
        let state: Arc<Mutex<State>> = Arc::default();
        let answering = Arc::clone(&state);
        let service = format!("{SERVICE}.default.svc");
        let server = TlsServer::start(&[&service], move |uri, body| answer(uri, body, &answering)).await;
        Self {
            port: server.port(),
            certificate: server.certificate().to_owned(),
            state,
            server,
        }
    }

    /// Modifies all responses with `spoil` from now on; `None` stops that.
    pub(super) fn spoil(&self, spoil: Option<Spoil>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.spoil = spoil;
        state.refusal = None;
    }

    /// Returns an HTTP error from now on.
    pub(super) fn refuse(&self, status: StatusCode, text: &'static str) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).refusal = Some((status, text));
    }

    /// Returns and clears the recorded requests.
    pub(super) fn calls(&self) -> Vec<Value> {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).calls)
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(mut self) {
        self.server.stop().await;
    }
}

fn answer(uri: &Uri, body: &[u8], state: &Mutex<State>) -> Response<Full<Bytes>> {
    let path = uri.to_string();
    let call: Value = serde_json::from_slice(body).unwrap();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut response = Response::new(Full::default());
    if let Some((status, text)) = state.refusal {
        *response.status_mut() = status;
        *response.body_mut() = Full::from(text);
    } else {
        let mut review = converted(&call);
        if let Some(spoil) = state.spoil {
            spoil(&mut review);
        }
        *response.body_mut() = Full::from(review.to_string());
    }
    state.calls.push(json!({"path": path, "review": call}));
    response
}

/// Returns the correct response to a conversion review.
fn converted(call: &Value) -> Value {
    let request = &call["request"];
    let wanted = request["desiredAPIVersion"].as_str().unwrap();
    let objects = request["objects"].as_array().unwrap().iter();
    let objects: Vec<Value> = objects.map(|object| in_version(object, wanted)).collect();
    json!({
        "apiVersion": call["apiVersion"], "kind": call["kind"],
        "response": {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": objects},
    })
}

/// Converts an object: version v1 has `spec.size` such as `2x3`, version v2 has two numbers.
fn in_version(object: &Value, wanted: &str) -> Value {
    let mut object = object.clone();
    object["apiVersion"] = json!(wanted);
    let spec = &mut object["spec"];
    if wanted.ends_with("/v2") {
        if let Some((width, height)) = spec["size"].as_str().and_then(|size| size.split_once('x')) {
            *spec = json!({"width": width.parse::<u32>().unwrap(), "height": height.parse::<u32>().unwrap()});
        }
    } else if spec["width"].is_number() {
        *spec = json!({"size": format!("{}x{}", spec["width"], spec["height"])});
    }
    object
}
