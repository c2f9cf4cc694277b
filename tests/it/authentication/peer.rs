//! Another server: HTTPS in the test, which can be stopped and started again at its address.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::Full;

use crate::tls_server::TlsServer;

/// Another server. It stops when dropped.
pub(super) struct Peer {
    server: TlsServer,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    /// Starts a server with the answers to paths and bodies; `None` is 404.
    pub(super) async fn start(answer: impl Fn(&str, &[u8]) -> Option<String> + Send + Sync + 'static) -> Self {
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let record = Arc::clone(&requests);
        let server = TlsServer::start(&[], move |uri, body| {
            let path = uri.path().to_owned();
            record.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
            let found = answer(&path, body);
            let code = if found.is_some() {
                StatusCode::OK
            } else {
                StatusCode::NOT_FOUND
            };
            let mut response = Response::new(Full::new(Bytes::from(found.unwrap_or_default())));
            *response.status_mut() = code;
            response
        })
        .await;
        Self { server, requests }
    }

    pub(super) fn url(&self) -> String {
        self.server.url()
    }

    /// The certificate, PEM.
    pub(super) fn certificate(&self) -> &str {
        self.server.certificate()
    }

    /// The paths that were requested so far.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stops listening, and drops all connections.
    pub(super) async fn stop(&mut self) {
        self.server.stop().await;
    }

    /// Listens again at the same address.
    pub(super) async fn restart(&mut self) {
        self.server.restart().await;
    }
}
