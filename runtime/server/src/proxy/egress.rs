//! Egress proxies: servers that open connections on behalf of this one, to networks that it does not reach itself.

mod http_connect;
mod konnectivity;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;

use super::dialer::{BoxedStream, dial_tcp};
use super::lookup::NameResolver;
use super::{Destination, LinkError};
use crate::metrics::{DialStage, EgressMetrics, ProxyMetrics};

/// A proxy, and the protocol that it speaks.
#[derive(Clone, Debug)]
pub enum ProxyServer {
    /// An HTTP proxy, to which a request with the method CONNECT is sent over TCP.
    Http(Destination),
    /// An HTTP proxy over TLS.
    Https {
        /// Its address.
        destination: Destination,
        /// The trusted certificates, and the own identity.
        tls: Arc<ClientConfig>,
        /// The expected name in its certificate; `None` for its host.
        name: Option<String>,
    },
    /// An HTTP proxy at a Unix socket.
    HttpSocket(PathBuf),
    /// A konnectivity server at a Unix socket, which speaks gRPC.
    Konnectivity(PathBuf),
}

/// Opens connections through one proxy.
#[derive(Debug)]
pub struct EgressProxy {
    server: ProxyServer,
    resolver: NameResolver,
    metrics: ProxyMetrics,
}

/// The reason that a proxy did not open a connection, in the words of kube-apiserver.
#[derive(Debug, Error)]
pub enum ProxyError {
    /// The answer to CONNECT is not valid HTTP.
    #[error("reading HTTP response from CONNECT to {address} via proxy {proxy} failed: {problem}")]
    Response {
        /// The destination.
        address: String,
        /// The address or the socket of the proxy.
        proxy: String,
        /// The problem, in the words of Go.
        problem: String,
    },
    /// The proxy refuses CONNECT.
    #[error("proxy error from {proxy} while dialing {address}, code {code}: {status}")]
    Refused {
        /// The destination.
        address: String,
        /// The address or the socket of the proxy.
        proxy: String,
        /// The status code.
        code: u16,
        /// The status code and its text.
        status: String,
    },
    /// The proxy sent data before the client of the connection did.
    #[error("unexpected {bytes} bytes of buffered data from CONNECT proxy {proxy:?}")]
    EarlyData {
        /// The number of bytes that were read with the answer.
        bytes: usize,
        /// The address or the socket of the proxy.
        proxy: String,
    },
    /// The konnectivity server cannot be reached.
    #[error("context deadline exceeded: connection error: desc = \"transport: Error while dialing: {0}\"")]
    Unreachable(#[source] Box<LinkError>),
    /// The agent cannot reach the destination; the message is the agent's.
    #[error("{0}")]
    Endpoint(String),
    /// The konnectivity server gave the attempt up.
    #[error("dial closed")]
    DialClosed,
    /// The konnectivity server ended the call during the attempt.
    #[error("tunnel closed")]
    TunnelClosed,
    /// The konnectivity server did not answer before the deadline of the connection.
    #[error("dial timeout, context")]
    Late,
    /// The konnectivity server did not answer for the longest time that any connection waits.
    #[error("dial timeout, backstop")]
    Backstop,
}

impl EgressProxy {
    /// Returns the way through `server`, whose host `resolver` resolves.
    #[must_use]
    pub fn new(server: ProxyServer, resolver: &NameResolver, metrics: &Arc<EgressMetrics>) -> Self {
        let (protocol, transport) = match &server {
            ProxyServer::Http(_) | ProxyServer::Https { .. } => ("http_connect", "tcp"),
            ProxyServer::HttpSocket(_) => ("http_connect", "uds"),
            ProxyServer::Konnectivity(_) => ("grpc", "uds"),
        };
        Self {
            server,
            resolver: resolver.clone(),
            metrics: metrics.of_proxy(protocol, transport),
        }
    }

    /// Opens a connection to `address`, which is `host:port`, within `limit`. The proxy resolves the host.
    pub(super) async fn dial(&self, address: &str, limit: Duration) -> Result<BoxedStream, LinkError> {
        // The address becomes part of a request, and may be from an object.
        if !address.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LinkError::Address);
        }
        let begin = Instant::now();
        self.metrics.started();
        let dialed = self.dial_from(begin, address, limit).await;
        dialed
            .inspect(|_| self.metrics.dialed(begin.elapsed()))
            .map_err(|(stage, error)| {
                self.metrics.failed(stage);
                error
            })
    }

    async fn dial_from(
        &self,
        begin: Instant,
        address: &str,
        limit: Duration,
    ) -> Result<BoxedStream, (DialStage, LinkError)> {
        let at_connect = |error| (DialStage::Connect, error);
        let at_proxy = |error| (DialStage::Proxy, error);
        let remaining = || limit.saturating_sub(begin.elapsed());
        if let ProxyServer::Konnectivity(socket) = &self.server {
            let call = konnectivity::connect(socket, limit).await.map_err(at_connect)?;
            let tunnel = konnectivity::dial(call, address, remaining()).await;
            return tunnel.map_err(|error| at_proxy(error.into()));
        }
        let connecting = self.connect(limit);
        let stream = within(limit, connecting).await.map_err(at_connect)?;
        let proxy = self.server.name();
        let tunnel = async { Ok(http_connect::tunnel(stream, &proxy, address).await?) };
        within(remaining(), tunnel).await.map_err(at_proxy)
    }

    /// Connects to an HTTP proxy.
    async fn connect(&self, limit: Duration) -> Result<BoxedStream, LinkError> {
        match &self.server {
            ProxyServer::Http(destination) => Ok(Box::new(dial_tcp(destination, &self.resolver, limit).await?)),
            ProxyServer::Https { destination, tls, name } => {
                let stream = dial_tcp(destination, &self.resolver, limit).await?;
                let name = name.as_deref().unwrap_or(destination.host()).to_owned();
                let name = ServerName::try_from(name).map_err(|_| LinkError::Address)?;
                let secure = TlsConnector::from(Arc::clone(tls)).connect(name, stream).await;
                Ok(Box::new(secure.map_err(LinkError::Tls)?))
            }
            ProxyServer::HttpSocket(socket) | ProxyServer::Konnectivity(socket) => {
                Ok(Box::new(connect_socket(socket).await?))
            }
        }
    }
}

impl ProxyServer {
    /// The address or the socket, for messages.
    fn name(&self) -> String {
        match self {
            ProxyServer::Http(destination) | ProxyServer::Https { destination, .. } => destination.authority(),
            ProxyServer::HttpSocket(socket) | ProxyServer::Konnectivity(socket) => socket.display().to_string(),
        }
    }
}

/// The outcome of `work`, or an error if it takes longer than `limit`.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, LinkError>>) -> Result<T, LinkError> {
    tokio::time::timeout(limit, work).await.unwrap_or(Err(LinkError::Late))
}

/// Connects to a Unix socket; a name that begins with `@` is an abstract one, as in Go.
async fn connect_socket(socket: &Path) -> Result<UnixStream, LinkError> {
    let connected = match socket.to_str().and_then(|name| name.strip_prefix('@')) {
        Some(name) => UnixStream::connect(format!("\0{name}")).await,
        None => UnixStream::connect(socket).await,
    };
    connected.map_err(|source: io::Error| LinkError::Socket {
        path: socket.display().to_string(),
        source,
    })
}

#[cfg(test)]
mod tests;
