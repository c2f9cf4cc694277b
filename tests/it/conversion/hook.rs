//! A conversion webhook: a TLS server in the test, with configurable responses.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

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
    server: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    questions: Vec<Value>,
    spoil: Option<Spoil>,
    refusal: Option<(StatusCode, &'static str)>,
}

impl Hook {
    /// Starts a webhook that converts correctly.
    pub(super) async fn start() -> Self {
        let names = ["127.0.0.1".to_owned(), format!("{SERVICE}.default.svc")];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let server = tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(tls)), Arc::clone(&state)));
        Self {
            port,
            certificate: cert.pem(),
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
    pub(super) fn questions(&self) -> Vec<Value> {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).questions)
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, state: Arc<Mutex<State>>) {
    // Dropping the set closes the connections.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(speak(stream, tls.clone(), Arc::clone(&state)));
    }
}

async fn speak(stream: TcpStream, tls: TlsAcceptor, state: Arc<Mutex<State>>) {
    // The client rejected the certificate.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(|request| answer(request, Arc::clone(&state)));
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A broken connection appears to the client as a missing response.
    let _ = connection.await;
}

async fn answer(request: Request<Incoming>, state: Arc<Mutex<State>>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().to_string();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let question: Value = serde_json::from_slice(&body).unwrap();
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut response = Response::new(Full::default());
    if let Some((status, text)) = state.refusal {
        *response.status_mut() = status;
        *response.body_mut() = Full::from(text);
    } else {
        let mut review = converted(&question);
        if let Some(spoil) = state.spoil {
            spoil(&mut review);
        }
        *response.body_mut() = Full::from(review.to_string());
    }
    state.questions.push(json!({"path": path, "review": question}));
    Ok(response)
}

/// Returns the correct response to a conversion review.
fn converted(question: &Value) -> Value {
    let request = &question["request"];
    let wanted = request["desiredAPIVersion"].as_str().unwrap();
    let objects = request["objects"].as_array().unwrap().iter();
    let objects: Vec<Value> = objects.map(|object| in_version(object, wanted)).collect();
    json!({
        "apiVersion": question["apiVersion"], "kind": question["kind"],
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
