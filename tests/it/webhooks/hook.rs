//! An admission webhook: a TLS server in the test, which answers each path in its own way.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

use crate::base64::encoded;

/// Returns the response to a request, without its uid.
type Answer = Box<dyn Fn(&Value) -> Value + Send>;

/// A webhook. It stops when dropped.
pub(super) struct Hook {
    port: u16,
    certificate: String,
    tls: TlsAcceptor,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

#[derive(Default)]
struct State {
    answers: HashMap<String, Answer>,
    questions: Vec<Question>,
    connections: usize,
}

/// A request to the webhook.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) path: String,
    pub(super) query: String,
    /// The request in the review.
    pub(super) request: Value,
}

impl Hook {
    /// Starts a webhook without paths.
    pub(super) async fn start() -> Self {
        let names = ["127.0.0.1".to_owned(), "hook.default.svc".to_owned()];
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
        let (tls, state) = (TlsAcceptor::from(Arc::new(tls)), Arc::default());
        let server = tokio::spawn(serve(listener, tls.clone(), Arc::clone(&state)));
        Self {
            port,
            certificate: cert.pem(),
            tls,
            state,
            server,
        }
    }

    /// Answers requests for `path` with `answer`.
    pub(super) fn on(&self, path: &str, answer: impl Fn(&Value) -> Value + Send + 'static) {
        self.state().answers.insert(path.to_owned(), Box::new(answer));
    }

    /// Returns and clears the recorded requests.
    pub(super) fn questions(&self) -> Vec<Question> {
        std::mem::take(&mut self.state().questions)
    }

    /// Returns the number of connections so far.
    pub(super) fn connections(&self) -> usize {
        self.state().connections
    }

    /// Returns a client configuration for `path`.
    pub(super) fn client(&self, path: &str) -> Value {
        let url = format!("https://127.0.0.1:{}{path}", self.port);
        json!({"url": url, "caBundle": encoded(self.certificate.as_bytes())})
    }

    /// Returns the port.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(&mut self) {
        self.server.abort();
        let _ = (&mut self.server).await;
    }

    /// Listens again on the same port.
    pub(super) async fn restart(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        self.server = tokio::spawn(serve(listener, self.tls.clone(), Arc::clone(&self.state)));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        state.lock().unwrap_or_else(PoisonError::into_inner).connections += 1;
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
    let path = request.uri().path().to_owned();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
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
    state.questions.push(Question { path, query, request });
    Ok(response)
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
