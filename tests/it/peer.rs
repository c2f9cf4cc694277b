//! Another server, played by the test: receives JSON documents over TLS.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use http::Response;
use http_body_util::Full;
use serde_json::Value;

use crate::tls_server::TlsServer;

/// A server that records what it receives and answers `{}`.
pub(crate) struct Peer {
    server: TlsServer,
    received: Arc<Mutex<Vec<Value>>>,
}

impl Peer {
    /// Starts a peer on a free port.
    pub(crate) async fn start() -> Self {
        let received: Arc<Mutex<Vec<Value>>> = Arc::default();
        let record = Arc::clone(&received);
        let server = TlsServer::start(&[], move |_, document| {
            if let Ok(document) = serde_json::from_slice(document) {
                record.lock().unwrap_or_else(PoisonError::into_inner).push(document);
            }
            Response::new(Full::from("{}"))
        })
        .await;
        Self { server, received }
    }

    /// Stops listening, and drops all connections.
    pub(crate) async fn stop(&mut self) {
        self.server.stop().await;
    }

    /// Listens again, at the same address and with the same certificate.
    pub(crate) async fn restart(&mut self) {
        self.server.restart().await;
    }

    /// Returns the documents so far, in the order of their arrival.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes a kubeconfig whose server is the peer at `path`, and returns its own path.
    pub(crate) fn write_kubeconfig(&self, folder: &Path, path: &str) -> PathBuf {
        std::fs::write(folder.join("peer.pem"), self.server.certificate()).unwrap();
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: peer, user: me}}\n\
             users:\n- name: me\n  user: {{}}\nclusters:\n- name: peer\n  cluster:\n    server: {}{path}\n    \
             certificate-authority: peer.pem\n",
            self.server.url()
        );
        let file = folder.join("peer.yaml");
        std::fs::write(&file, text).unwrap();
        file
    }
}
