//! Connections to a member.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::transport::{Channel, Endpoint};

use crate::config::Config;
use crate::dial::{Dial, Stream};

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
    /// `None` for direct connections.
    dial: Option<Arc<dyn Dial>>,
}

impl Connector {
    /// Returns the connector to the member at `uri`, which uses the TLS settings of `config` if the URL has `https`.
    pub(crate) fn new(uri: Uri, config: &Config) -> Self {
        let is_secure = uri.scheme_str() == Some("https");
        let tls = config.tls.as_ref().filter(|_| is_secure).map(|config| {
            let mut config = ClientConfig::clone(config);
            config.alpn_protocols = vec![b"h2".to_vec()];
            TlsConnector::from(Arc::new(config))
        });
        let endpoint = Endpoint::from(uri.clone())
            .http2_keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW);
        let dial = config.dial.clone();
        Self {
            endpoint,
            uri,
            tls,
            dial,
        }
    }

    /// Returns a channel that connects with its first request, and again after a loss.
    pub(crate) fn channel(&self) -> Channel {
        let (tls, dial) = (self.tls.clone(), self.dial.clone());
        let connect = move |uri: Uri| {
            let (tls, dial) = (tls.clone(), dial.clone());
            async move {
                let connecting = tokio::time::timeout(CONNECT, connect(uri, tls, dial));
                let connected = connecting.await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                connected.map(TokioIo::new)
            }
        };
        self.endpoint.connect_with_connector_lazy(tower::service_fn(connect))
    }
}

async fn connect(uri: Uri, tls: Option<TlsConnector>, dial: Option<Arc<dyn Dial>>) -> io::Result<Box<dyn Stream>> {
    let host = uri.host().unwrap_or_default();
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let port = uri.port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
    let stream: Box<dyn Stream> = match dial {
        Some(dial) => dial.dial(host.to_owned(), port, CONNECT).await?,
        None => {
            let stream = TcpStream::connect((host, port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
    };
    let Some(tls) = tls else {
        return Ok(stream);
    };
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    Ok(Box::new(tls.connect(name, stream).await?))
}
