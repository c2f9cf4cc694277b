//! Dialers: they open the connections of links, directly or through a proxy.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::egress::EgressProxy;
use super::lookup::NameResolver;
use super::{Destination, LinkError};

/// An open connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An open connection of any kind.
pub type BoxedStream = Box<dyn Stream>;

/// Opens connections to one network of a server, directly or through a proxy; cheap to clone. All dialers of a server share the
/// limits of the lookups of names.
#[derive(Clone, Debug, Default)]
pub struct Dialer {
    resolver: NameResolver,
    /// `None` for direct connections.
    proxy: Option<Arc<EgressProxy>>,
}

impl Dialer {
    /// Returns a dialer of direct connections to hosts that `resolver` resolves.
    #[must_use]
    pub fn direct(resolver: &NameResolver) -> Self {
        Self {
            resolver: resolver.clone(),
            proxy: None,
        }
    }

    /// Returns a dialer of connections through `proxy`, which resolves the names of hosts.
    #[must_use]
    pub fn through(proxy: EgressProxy, resolver: &NameResolver) -> Self {
        Self {
            resolver: resolver.clone(),
            proxy: Some(Arc::new(proxy)),
        }
    }

    /// Opens a connection within `limit`.
    ///
    /// # Errors
    ///
    /// The destination is not allowed or cannot be reached, or the proxy refuses.
    pub async fn dial(&self, destination: &Destination, limit: Duration) -> Result<BoxedStream, LinkError> {
        match &self.proxy {
            None => Ok(Box::new(dial_tcp(destination, &self.resolver, limit).await?)),
            Some(proxy) => {
                if let Ok(address) = destination.host().parse::<IpAddr>() {
                    destination.check_address(address)?;
                }
                // Boxed: the future of each link would grow by the steps of all proxies.
                Box::pin(proxy.dial(&destination.authority(), limit)).await
            }
        }
    }

    /// Checks the current addresses of a host, without a connection. They are those that this server sees, also if a proxy opens
    /// the connections, as in kube-apiserver.
    pub(super) async fn check(&self, destination: &Destination) -> Result<(), LinkError> {
        destination.addresses(&self.resolver).await.map(drop)
    }
}

/// Opens a direct connection within `limit`.
pub(super) async fn dial_tcp(
    destination: &Destination,
    resolver: &NameResolver,
    limit: Duration,
) -> Result<TcpStream, LinkError> {
    let failed = |source| LinkError::Dial {
        address: destination.authority(),
        source,
    };
    let opening = async {
        // The addresses that were checked, and no others: a second lookup could return others.
        let addresses = destination.addresses(resolver).await?;
        TcpStream::connect(&*addresses).await.map_err(failed)
    };
    let stream = timeout(limit, opening).await;
    let stream = stream.unwrap_or_else(|_| Err(failed(std::io::ErrorKind::TimedOut.into())))?;
    // Small requests are sent at once; if the option cannot be set, they are only sent a little later.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}
