//! The way to somebody else: TCP, and TLS where it is wanted.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::Target;

/// How connections to others are opened; cheap to clone.
#[derive(Clone, Debug)]
pub struct Link {
    /// Whom to believe, and who we are.
    pub tls: Arc<ClientConfig>,
    /// How long opening a connection may take.
    pub patience: Duration,
}

/// Why nobody answered, in the words of Go, which clients know.
#[derive(Debug, Error)]
pub enum LinkError {
    /// No connection.
    #[error("dial tcp {address}: {}", spoken(source))]
    Dial {
        /// `host:port`.
        address: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// No TLS on the connection.
    #[error("tls: {0}")]
    Tls(io::Error),
    /// The connection broke, or what came over it is no HTTP.
    #[error("{0}")]
    Http(#[from] hyper::Error),
    /// The answer is too large, or broke off.
    #[error("unexpected EOF")]
    Cut,
    /// There is no answer in time.
    #[error("context deadline exceeded")]
    Late,
    /// The address cannot be part of a request.
    #[error("invalid URL")]
    Address,
}

impl Link {
    /// Sends a request over a connection of its own.
    pub(super) async fn send(
        &self,
        target: &Target,
        request: Request<Body>,
    ) -> Result<http::Response<Incoming>, LinkError> {
        self.send_as(target, &target.host, request).await
    }

    /// The same to somebody whose certificate is for `name`.
    pub(super) async fn send_as(
        &self,
        target: &Target,
        name: &str,
        request: Request<Body>,
    ) -> Result<http::Response<Incoming>, LinkError> {
        let stream = self.dial(target).await?;
        if !target.secure {
            return speak(stream, request).await;
        }
        let name = ServerName::try_from(name.to_owned()).map_err(|_| LinkError::Address)?;
        let handshake = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream);
        let stream = tokio::time::timeout(self.patience, handshake).await;
        let stream = stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        speak(stream.map_err(LinkError::Tls)?, request).await
    }

    async fn dial(&self, target: &Target) -> Result<TcpStream, LinkError> {
        let connect = TcpStream::connect((target.host.as_str(), target.port));
        let stream = tokio::time::timeout(self.patience, connect).await;
        stream
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
            .map_err(|source| LinkError::Dial {
                address: target.authority(),
                source,
            })
    }
}

async fn speak<IO>(stream: IO, request: Request<Body>) -> Result<http::Response<Incoming>, LinkError>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends with the answer, or when nobody reads it any more.
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a backend broke");
        }
    });
    Ok(sender.send_request(request).await?)
}

/// A failure to connect as Go says it.
fn spoken(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
        io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
        _ => error.to_string(),
    }
}
