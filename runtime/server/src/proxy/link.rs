//! Connections to other servers, with or without TLS.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::answer::AnswerBody;
use super::connection_pool::ConnectionPool;
use super::dialer::{BoxedStream, Dialer};
use super::egress::ProxyError;
use super::page_limits::PageLimits;
use super::{Destination, Target, handshake};
use crate::task;

/// Opens connections to other servers; cheap to clone. Clones share the limits of the work on pages, and all links of a server
/// those of the lookups of names.
#[derive(Clone, Debug)]
pub struct Link {
    /// The trusted certificates, and the own identity.
    pub tls: Arc<ClientConfig>,
    /// Maximum time for opening a connection.
    pub timeout: Duration,
    /// The expected name in the certificate; `None` for the destination's host.
    name: Option<String>,
    dialer: Dialer,
    pool: Option<ConnectionPool>,
    pages: Arc<PageLimits>,
}

/// The reason that there is no answer, in the words of Go, which clients know.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The connection could not be opened.
    #[error("dial tcp {address}: {}", go_message(source))]
    Dial {
        /// `host:port`.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The socket of a proxy could not be opened.
    #[error("dial unix {path}: {}", go_message(source))]
    Socket {
        /// The path of the socket.
        path: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The proxy did not open the connection.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The TLS handshake failed.
    #[error("{}", handshake::go_message(.0))]
    Tls(io::Error),
    /// The connection broke, or the answer is not valid HTTP.
    #[error("{0}")]
    Http(#[from] hyper::Error),
    /// The answer is too large, or broke off.
    #[error("unexpected EOF")]
    Cut,
    /// There was no answer in time.
    #[error("context deadline exceeded")]
    Late,
    /// The address cannot be part of a request.
    #[error("invalid URL")]
    Address,
    /// The host has no address.
    #[error("dial tcp: lookup {0}: no such host")]
    Lookup(String),
    /// The addresses of the host were not found in time.
    #[error("dial tcp: lookup {0}: i/o timeout")]
    LateLookup(String),
    /// The host has an address that is not allowed for the destination.
    #[error("address not allowed")]
    NotAllowed,
    /// A request over a pooled connection failed.
    #[error("{0}")]
    ConnectionPool(String),
}

impl Link {
    /// Returns a link whose connections `dialer` opens, in at most `timeout` each.
    #[must_use]
    pub fn new(tls: Arc<ClientConfig>, timeout: Duration, dialer: &Dialer) -> Self {
        Self {
            tls,
            timeout,
            name: None,
            dialer: dialer.clone(),
            pool: None,
            pages: Arc::default(),
        }
    }

    /// The same link to servers whose certificate is for `name`, whatever their address.
    #[must_use]
    pub fn expecting(self, name: impl Into<String>) -> Self {
        let pool = None;
        let name = Some(name.into());
        Self { name, pool, ..self }
    }

    /// The same link with pooled connections, over HTTP/2 where the server supports it.
    #[must_use]
    pub fn pooled(self) -> Self {
        let pool = Some(ConnectionPool::new(&self));
        Self { pool, ..self }
    }

    /// The same link with pooled connections that speak HTTP/1.1 alone, so that each request under way has a connection.
    #[must_use]
    pub fn pooled_http1(self) -> Self {
        let pool = Some(ConnectionPool::of_http1(&self));
        Self { pool, ..self }
    }

    /// Checks the current addresses of a host, without a connection. Opening one checks again.
    ///
    /// # Errors
    ///
    /// The host has no address, or one that may not be used.
    pub async fn check(&self, destination: &Destination) -> Result<(), LinkError> {
        self.dialer.check(destination).await
    }

    pub(super) fn page_limits(&self) -> &PageLimits {
        &self.pages
    }

    /// Sends a request, over a connection of its own unless connections are pooled.
    pub(super) async fn send(
        &self,
        target: &Target,
        request: Request<Body>,
    ) -> Result<http::Response<AnswerBody>, LinkError> {
        match &self.pool {
            Some(pool) => pool.send(target, request).await,
            None => self.send_alone(target, request).await,
        }
    }

    /// Sends a request over a connection of its own, which may be upgraded.
    ///
    /// # Errors
    ///
    /// The target cannot be reached.
    pub async fn send_alone(
        &self,
        target: &Target,
        request: Request<Body>,
    ) -> Result<http::Response<AnswerBody>, LinkError> {
        let stream = self.dialer.dial(&target.destination, self.timeout).await?;
        match target.secure {
            true => {
                let stream = self.secure(stream, target.destination.host(), &self.tls).await?;
                send_over(stream, request).await
            }
            false => send_over(stream, request).await,
        }
    }

    /// Opens a TLS connection with one of the protocols of `tls`.
    pub(super) async fn open(
        &self,
        destination: &Destination,
        tls: &Arc<ClientConfig>,
    ) -> Result<TlsStream<BoxedStream>, LinkError> {
        let stream = self.dialer.dial(destination, self.timeout).await?;
        self.secure(stream, destination.host(), tls).await
    }

    async fn secure(
        &self,
        stream: BoxedStream,
        host: &str,
        tls: &Arc<ClientConfig>,
    ) -> Result<TlsStream<BoxedStream>, LinkError> {
        let name = self.name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(|_| LinkError::Address)?;
        let handshake = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
        let stream = tokio::time::timeout(self.timeout, handshake).await;
        let stream = stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        stream.map_err(LinkError::Tls)
    }
}

/// `host:port`, as in headers.
pub(super) fn authority(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

async fn send_over<IO>(stream: IO, request: Request<Body>) -> Result<http::Response<AnswerBody>, LinkError>
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // Ends with the answer, or when its body is dropped.
    task::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a backend broke");
        }
    });
    let answer = sender.send_request(request).await?;
    Ok(answer.map(|body| AnswerBody::new(body, None)))
}

/// A connection failure in Go's words.
fn go_message(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "connect: no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "connect: permission denied".to_owned(),
        io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
        io::ErrorKind::HostUnreachable => "connect: no route to host".to_owned(),
        io::ErrorKind::NetworkUnreachable => "connect: network is unreachable".to_owned(),
        io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
        _ => error.to_string(),
    }
}
