//! Another server, played by the test: receives JSON documents over TLS.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_rustls::TlsAcceptor;

/// A server on loopback with a certificate of its own, which records what it receives and answers `{}`.
pub(crate) struct Peer {
    address: SocketAddr,
    certificate: CertifiedKey<KeyPair>,
    received: Arc<Mutex<Vec<Value>>>,
    server: Option<JoinHandle<()>>,
}

impl Peer {
    /// Starts a peer on a free port.
    pub(crate) async fn start() -> Self {
        let mut peer = Self {
            address: ([127, 0, 0, 1], 0).into(),
            certificate: generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap(),
            received: Arc::default(),
            server: None,
        };
        peer.restart().await;
        peer
    }

    /// Listens again, at the same address and with the same certificate.
    pub(crate) async fn restart(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        let key = PrivatePkcs8KeyDer::from(self.certificate.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.cert.der().clone()], key.into())
            .unwrap();
        let serving = serve(listener, TlsAcceptor::from(Arc::new(tls)), Arc::clone(&self.received));
        self.server = Some(tokio::spawn(serving));
    }

    /// Stops listening, and drops all connections.
    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            // The error says that it was aborted.
            let _ = server.await;
        }
    }

    /// Returns the documents so far, in the order of their arrival.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a kubeconfig whose server is the peer at `path`, and returns its own path.
    pub(crate) fn write_kubeconfig(&self, folder: &Path, path: &str) -> PathBuf {
        std::fs::write(folder.join("peer.pem"), self.certificate.cert.pem()).unwrap();
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: peer, user: me}}\n\
             users:\n- name: me\n  user: {{}}\nclusters:\n- name: peer\n  cluster:\n    server: https://{}{path}\n    \
             certificate-authority: peer.pem\n",
            self.address
        );
        let file = folder.join("peer.yaml");
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, received: Arc<Mutex<Vec<Value>>>) {
    // Dropping the set closes the connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(speak(stream, tls.clone(), Arc::clone(&received)));
    }
}

async fn speak(stream: TcpStream, tls: TlsAcceptor, received: Arc<Mutex<Vec<Value>>>) {
    // The client refuses the certificate.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(|request| answer(request, Arc::clone(&received)));
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A broken connection appears to the client as a missing answer.
    let _ = connection.await;
}

async fn answer(
    request: Request<Incoming>,
    received: Arc<Mutex<Vec<Value>>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let document = request.into_body().collect().await.map(|body| body.to_bytes());
    if let Ok(document) = document
        && let Ok(document) = serde_json::from_slice(&document)
    {
        received.lock().unwrap_or_else(PoisonError::into_inner).push(document);
    }
    Ok(Response::new(Full::from("{}")))
}
