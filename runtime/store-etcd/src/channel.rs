//! Connections to a member.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};

/// Maximum time until a connection stands.
const CONNECT: Duration = Duration::from_secs(3);

/// Members refuse clients that ping more often than every five seconds.
const PING_INTERVAL: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes that may be under way: pages of the content are several megabytes.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Makes connections to one member.
#[derive(Clone)]
pub(crate) struct Connector {
    endpoint: Endpoint,
    /// The URL of the member.
    pub(crate) uri: Uri,
    /// `None` without TLS.
    tls: Option<TlsConnector>,
}

/// A connection, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Connector {
    /// Returns the connector to the member at `uri`, which uses `tls` if the URL has `https`.
    pub(crate) fn new(uri: Uri, tls: Option<&Arc<ClientConfig>>) -> Self {
        let is_secure = uri.scheme_str() == Some("https");
        let tls = tls.filter(|_| is_secure).map(|config| {
            let mut config = ClientConfig::clone(config);
            config.alpn_protocols = vec![b"h2".to_vec()];
            TlsConnector::from(Arc::new(config))
        });
        let endpoint = Endpoint::from(uri.clone())
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        Self { endpoint, uri, tls }
    }

    /// Returns a channel that connects with its first request, and again after a loss.
    pub(crate) fn channel(&self) -> Channel {
        let tls = self.tls.clone();
        let connect = move |uri: Uri| {
            let tls = tls.clone();
            async move {
                let connecting = tokio::time::timeout(CONNECT, connect(uri, tls));
                let connected = connecting.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                connected.map(TokioIo::new)
            }
        };
        self.endpoint.connect_with_connector_lazy(tower::service_fn(connect))
    }
}

async fn connect(uri: Uri, tls: Option<TlsConnector>) -> io::Result<Box<dyn Stream>> {
    let host = uri.host().unwrap_or_default();
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let port = uri.port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let Some(tls) = tls else {
        return Ok(Box::new(stream));
    };
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::new(tls.connect(name, stream).await?))
}
