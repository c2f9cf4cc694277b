//! A server that the test plays: HTTPS on loopback, which can be stopped and started again at its address.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response, Uri};
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

/// The address on which all such servers listen.
const HOST: &str = "127.0.0.1";

/// Returns the response to a request for a URI with a body.
type Answer = Arc<dyn Fn(&Uri, &[u8]) -> Response<Full<Bytes>> + Send + Sync>;

/// A server with a certificate of its own. It stops when dropped.
pub(crate) struct TlsServer {
    port: u16,
    certificate: String,
    tls: TlsAcceptor,
    answer: Answer,
    connections: Arc<AtomicUsize>,
    server: Option<JoinHandle<()>>,
}

impl TlsServer {
    /// Starts a server on a free port, whose certificate is for loopback and for `names`.
    pub(crate) async fn start(
        names: &[&str],
        answer: impl Fn(&Uri, &[u8]) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let names: Vec<String> = [HOST].iter().chain(names).map(|name| (*name).to_owned()).collect();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let mut server = Self {
            port: 0,
            certificate: cert.pem(),
            tls: TlsAcceptor::from(Arc::new(tls)),
            answer: Arc::new(answer),
            connections: Arc::default(),
            server: None,
        };
        server.restart().await;
        server
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL, without a path.
    pub(crate) fn url(&self) -> String {
        format!("https://{HOST}:{}", self.port)
    }

    /// Returns the certificate, in PEM.
    pub(crate) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Stops listening, and drops all connections.
    pub(crate) async fn stop(&mut self) {
        if let Some(server) = self.server.take() {
            server.abort();
            // The error says that it was aborted.
            let _ = server.await;
        }
    }

    /// Listens again, at the same address and with the same certificate.
    pub(crate) async fn restart(&mut self) {
        let listener = TcpListener::bind((HOST, self.port)).await.unwrap();
        self.port = listener.local_addr().unwrap().port();
        let (tls, answer, count) = (
            self.tls.clone(),
            Arc::clone(&self.answer),
            Arc::clone(&self.connections),
        );
        self.server = Some(tokio::spawn(async move {
            // Dropping the set closes the connections.
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                connections.spawn(speak(stream, tls.clone(), Arc::clone(&answer)));
            }
        }));
    }
}

impl Drop for TlsServer {
    fn drop(&mut self) {
        if let Some(server) = &self.server {
            server.abort();
        }
    }
}

async fn speak(stream: TcpStream, tls: TlsAcceptor, answer: Answer) {
    // The client may reject the certificate.
    let Ok(stream) = tls.accept(stream).await else { return };
    let service = service_fn(|request: Request<Incoming>| {
        let answer = &answer;
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            Ok::<_, Infallible>(answer(&head.uri, &body))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A broken connection appears to the client as a missing response.
    let _ = connection.await;
}
