//! A server behind the aggregator that is not an API server: it returns the requests it receives.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_TYPE, UPGRADE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// The name of its service in the namespace `default`, and of its certificate.
pub(super) const SERVICE: &str = "fake";
/// The path that it serves.
pub(super) const PATH: &str = "/apis/fake.example.com/v1";

/// A server for HTTP/2 and HTTP/1.1 on all addresses of the machine. It stops when dropped.
pub(super) struct Fake {
    /// The port.
    pub(super) port: u16,
    /// The certificate, in PEM.
    pub(super) certificate: String,
    lines: broadcast::Sender<Value>,
    server: JoinHandle<()>,
}

impl Fake {
    /// Starts a server.
    pub(super) async fn start() -> Self {
        let names = [format!("{SERVICE}.default.svc")];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let lines = broadcast::Sender::new(16);
        let server = serve(listener, TlsAcceptor::from(Arc::new(tls)), lines.clone());
        Self {
            port,
            certificate: cert.pem(),
            lines,
            server: tokio::spawn(server),
        }
    }

    /// Sends an event to all watchers.
    pub(super) fn send(&self, event: Value) {
        self.lines.send(event).expect("somebody watches");
    }

    /// Returns an address of this machine that is reachable from other machines; `None` if it has only loopback addresses.
    pub(super) fn address() -> Option<IpAddr> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        // This sends nothing: the operating system only selects the source address.
        socket.connect((Ipv4Addr::new(192, 0, 2, 254), 9)).ok()?;
        let address = socket.local_addr().ok()?.ip();
        (!address.is_loopback() && !address.is_unspecified()).then_some(address)
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, lines: broadcast::Sender<Value>) {
    // Dropping the set closes the connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(speak(stream, tls.clone(), lines.clone()));
    }
}

async fn speak(stream: TcpStream, tls: TlsAcceptor, lines: broadcast::Sender<Value>) {
    // The client rejected the certificate.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(|request| {
        let answer = answer(request, &lines);
        async move { Ok::<_, Infallible>(answer) }
    });
    let server = auto::Builder::new(TokioExecutor::new());
    // A broken connection appears to the client as a missing response.
    let _ = server
        .serve_connection_with_upgrades(TokioIo::new(stream), service)
        .await;
}

type Body = BoxBody<Bytes, Infallible>;

fn answer(mut request: Request<Incoming>, lines: &broadcast::Sender<Value>) -> Response<Body> {
    let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=1"));
    match request.uri().path().strip_prefix(PATH) {
        Some("") => document(&json!({
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "fake.example.com/v1",
            "resources": [{"name": "things", "singularName": "thing", "namespaced": true, "kind": "Thing",
                           "verbs": ["get"]}],
        })),
        Some("/namespaces/default/things") if is_watch => watch(lines),
        Some("/namespaces/default/things/tube") if request.headers().contains_key(UPGRADE) => tube(&mut request),
        Some("/namespaces/default/things/moved") => {
            let mut response = document(&json!({}));
            *response.status_mut() = StatusCode::FOUND;
            let location = HeaderValue::from_static("https://elsewhere.example.com/");
            response.headers_mut().insert(http::header::LOCATION, location);
            response
        }
        Some(_) => document(&arrived(&request)),
        None => {
            let mut response = document(&json!({}));
            *response.status_mut() = StatusCode::NOT_FOUND;
            response
        }
    }
}

/// Returns the request as JSON.
fn arrived(request: &Request<Incoming>) -> Value {
    let headers = request.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), Value::String(value))
    });
    json!({
        "version": format!("{:?}", request.version()),
        "uri": request.uri().to_string(),
        "headers": headers.collect::<serde_json::Map<_, _>>(),
    })
}

fn document(document: &Value) -> Response<Body> {
    let body = Full::new(Bytes::from(document.to_string())).boxed();
    let mut response = Response::new(body);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Returns a stream of all events sent from now on.
fn watch(lines: &broadcast::Sender<Value>) -> Response<Body> {
    let lines = futures_util::stream::unfold(lines.subscribe(), |mut lines| async move {
        let line = lines.recv().await.ok()?;
        Some((Ok(Frame::data(Bytes::from(format!("{line}\n")))), lines))
    });
    let mut response = Response::new(StreamBody::new(lines).boxed());
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

/// Switches to the requested protocol, and returns all input in upper case.
fn tube(request: &mut Request<Incoming>) -> Response<Body> {
    let protocol = request.headers()[UPGRADE].clone();
    let upgrade = hyper::upgrade::on(request);
    tokio::spawn(async move {
        let mut stream = TokioIo::new(upgrade.await.unwrap());
        let mut buffer = [0; 1024];
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            buffer[..read].make_ascii_uppercase();
            if stream.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    });
    let mut response = Response::new(Full::default().boxed());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert(UPGRADE, protocol);
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    response
}
