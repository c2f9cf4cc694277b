//! The way to somebody else: TCP, and TLS where it is wanted.

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
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::answer::AnswerBody;
use super::kept::Kept;
use super::{Destination, Target, handshake};

/// How connections to others are opened; cheap to clone.
#[derive(Clone, Debug)]
pub struct Link {
    /// Whom to believe, and who we are.
    pub tls: Arc<ClientConfig>,
    /// How long opening a connection may take.
    pub patience: Duration,
    /// Whose certificate is expected; that of the host unless it is told otherwise.
    name: Option<String>,
    kept: Option<Kept>,
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
    #[error("{}", handshake::spoken(.0))]
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
    /// The host has no address.
    #[error("dial tcp: lookup {0}: no such host")]
    Lookup(String),
    /// The addresses of the host are not known in time.
    #[error("dial tcp: lookup {0}: i/o timeout")]
    LateLookup(String),
    /// The host has an address that the destination may not use.
    #[error("address not allowed")]
    NotAllowed,
    /// A request over a connection that is kept failed.
    #[error("{0}")]
    Kept(String),
}

impl Link {
    /// Connections that take no longer than `patience` to open.
    #[must_use]
    pub fn new(tls: Arc<ClientConfig>, patience: Duration) -> Self {
        Self {
            tls,
            patience,
            name: None,
            kept: None,
        }
    }

    /// The same to servers whose certificate is for `name`, wherever they are.
    #[must_use]
    pub fn expecting(self, name: impl Into<String>) -> Self {
        let kept = None;
        let name = Some(name.into());
        Self { name, kept, ..self }
    }

    /// The same with connections that are kept for the next request, over HTTP/2 where the other side speaks it.
    #[must_use]
    pub fn keeping(self) -> Self {
        let kept = Some(Kept::new(&self));
        Self { kept, ..self }
    }

    /// Sends a request, over a connection of its own unless connections are kept.
    pub(super) async fn send(
        &self,
        target: &Target,
        request: Request<Body>,
    ) -> Result<http::Response<AnswerBody>, LinkError> {
        match &self.kept {
            Some(kept) => kept.send(target, request).await,
            None => self.send_alone(target, request).await,
        }
    }

    /// Sends a request over a connection of its own, which may then change its protocol.
    pub(crate) async fn send_alone(
        &self,
        target: &Target,
        request: Request<Body>,
    ) -> Result<http::Response<AnswerBody>, LinkError> {
        let stream = self.dial(&target.destination).await?;
        match target.secure {
            true => {
                let stream = self.secure(stream, target.destination.host(), &self.tls).await?;
                speak(stream, request).await
            }
            false => speak(stream, request).await,
        }
    }

    /// A TLS connection that speaks one of the protocols of `tls`.
    pub(super) async fn open(
        &self,
        destination: &Destination,
        tls: &Arc<ClientConfig>,
    ) -> Result<TlsStream<TcpStream>, LinkError> {
        let stream = self.dial(destination).await?;
        self.secure(stream, destination.host(), tls).await
    }

    async fn secure(
        &self,
        stream: TcpStream,
        host: &str,
        tls: &Arc<ClientConfig>,
    ) -> Result<TlsStream<TcpStream>, LinkError> {
        let name = self.name.as_deref().unwrap_or(host).to_owned();
        let name = ServerName::try_from(name).map_err(|_| LinkError::Address)?;
        let handshake = TlsConnector::from(Arc::clone(tls)).connect(name, stream);
        let stream = tokio::time::timeout(self.patience, handshake).await;
        let stream = stream.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        stream.map_err(LinkError::Tls)
    }

    async fn dial(&self, destination: &Destination) -> Result<TcpStream, LinkError> {
        let failed = |source| LinkError::Dial {
            address: destination.authority(),
            source,
        };
        let opening = async {
            // The addresses that were checked, and no others: a second look-up could find others.
            let addresses = destination.addresses().await?;
            TcpStream::connect(&*addresses).await.map_err(failed)
        };
        let stream = tokio::time::timeout(self.patience, opening).await;
        let stream = stream.unwrap_or_else(|_| Err(failed(io::ErrorKind::TimedOut.into())))?;
        // Small requests go out at once; without it they only go out a little later.
        let _ = stream.set_nodelay(true);
        Ok(stream)
    }
}

/// `host:port`, as it stands in headers.
pub(super) fn authority(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

async fn speak<IO>(stream: IO, request: Request<Body>) -> Result<http::Response<AnswerBody>, LinkError>
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
    let answer = sender.send_request(request).await?;
    Ok(answer.map(|body| AnswerBody::new(body, None)))
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
