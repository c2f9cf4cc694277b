//! Another server: HTTPS in the test, which can be stopped and started again at its address.

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
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// The answer to a path and a body; `None` is 404.
type Answer = Arc<dyn Fn(&str, &[u8]) -> Option<String> + Send + Sync>;

/// Another server. It stops when dropped.
pub(super) struct Peer {
    pub(super) port: u16,
    /// The certificate, PEM.
    pub(super) certificate: String,
    tls: TlsAcceptor,
    answer: Answer,
    requests: Arc<Mutex<Vec<String>>>,
    server: Option<JoinHandle<()>>,
}

impl Peer {
    /// Starts a server with these answers.
    pub(super) async fn start(answer: impl Fn(&str, &[u8]) -> Option<String> + Send + Sync + 'static) -> Self {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let mut peer = Self {
            port: 0,
            certificate: cert.pem(),
            tls: TlsAcceptor::from(Arc::new(tls)),
            answer: Arc::new(answer),
            requests: Arc::default(),
            server: None,
        };
        peer.restart().await;
        peer
    }

    pub(super) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The paths that were requested so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            let _ = server.await;
        }
    }

    /// Listens again at the same address.
    pub(super) async fn restart(&mut self) {
        let listener = TcpListener::bind(("127.0.0.1", self.port)).await.unwrap();
        self.port = listener.local_addr().unwrap().port();
        let (tls, answer, requests) = (self.tls.clone(), Arc::clone(&self.answer), Arc::clone(&self.requests));
        self.server = Some(tokio::spawn(async move {
            // Dropping the set closes the connections.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(speak(stream, tls.clone(), Arc::clone(&answer), Arc::clone(&requests)));
            }
        }));
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

async fn speak(stream: TcpStream, tls: TlsAcceptor, answer: Answer, requests: Arc<Mutex<Vec<String>>>) {
    // The client may reject the certificate.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(|request: Request<Incoming>| {
        let (answer, requests) = (&answer, &requests);
        async move {
            let path = request.uri().path().to_owned();
            let body = request
                .into_body()
                .collect()
                .await
                .map(|body| body.to_bytes())
                .unwrap_or_default();
            requests
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(path.clone());
            let found = answer(&path, &body);
            let mut response = Response::new(Full::new(Bytes::from(found.clone().unwrap_or_default())));
            if found.is_none() {
                *response.status_mut() = StatusCode::NOT_FOUND;
            }
            Ok::<_, Infallible>(response)
        }
    });
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A broken connection appears to the client as a missing response.
    let _ = connection.await;
}
