//! The listener: accepts and serves connections.

mod activity;
mod bulk_turns;
mod client_certificate;
mod closing;
mod cutoff;
mod exchanges;
mod host_header;
mod named_certificates;
mod peer;
mod session;
mod slots;
mod tls;
mod tls_parameters;
mod transport;
mod write_coalescing;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use http::Request;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

pub use self::named_certificates::NamedCertificate;
pub use self::tls::{Authorities, Tls, TlsError, TlsFiles};
pub use self::tls_parameters::TlsParameters;

use self::closing::Closing;
use self::session::Sessions;
use self::slots::ConnectionSlots;
use crate::connection::Connection;
use crate::sending::Answer;
use crate::shutdown::Shutdown;
use crate::task;

/// Time that connections in other protocols have to send their closing messages when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Limits of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Maximum number of open connections. For a further one, the connection that was without a request for the longest
    /// time is closed; while all are in use, it waits in the kernel's queue.
    pub connections: usize,
    /// Minimum time without a request before a connection is closed for another one.
    pub idle_for_others: Duration,
    /// Maximum duration of a TLS handshake.
    pub handshake: Duration,
    /// Maximum time in which the head of a request must arrive.
    pub head: Duration,
    /// Time without requests after which a connection is closed.
    pub idle: Duration,
    /// Interval of pings on a quiet HTTP/2 connection, and time that the client has to answer one.
    pub ping: Duration,
    /// Maximum size of a request's head, in bytes.
    pub head_size: u32,
    /// Maximum number of concurrent requests on one HTTP/2 connection.
    pub streams: u32,
}

impl ConnectionLimits {
    /// Default number of concurrent requests on one HTTP/2 connection: as many as Go's clients begin before they know
    /// the limit.
    pub const STREAMS: u32 = 100;
}

impl Default for ConnectionLimits {
    /// Returns kube-apiserver's values where it has them.
    fn default() -> Self {
        Self {
            connections: 16_384,
            idle_for_others: Duration::from_secs(1),
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(32),
            idle: Duration::from_secs(90),
            ping: Duration::from_secs(30),
            head_size: 1 << 20,
            streams: Self::STREAMS,
        }
    }
}

/// Answers the requests of all connections.
pub trait Service: Send + Sync + 'static {
    /// Answers one request.
    fn serve(
        self: Arc<Self>,
        request: Request<Body>,
        connection: Arc<Connection>,
    ) -> impl Future<Output = Answer> + Send + 'static;

    /// Called when a client failed the TLS handshake.
    fn handshake_failed(&self) {}
}

/// The most connections that wait to be accepted; the one of other sockets.
const BACKLOG: u32 = 1024;

/// A socket that accepts connections.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    tls: Option<Arc<Tls>>,
}

impl Listener {
    /// Opens a socket at `address`; without `tls` it serves plain HTTP.
    ///
    /// # Errors
    ///
    /// The error of the operating system.
    pub async fn bind(address: SocketAddr, tls: Option<Tls>) -> io::Result<Self> {
        Ok(Self {
            socket: TcpListener::bind(address).await?,
            tls: tls.map(Arc::new),
        })
    }

    /// Opens a socket at `address`, on whose port other processes can listen at the same time (`SO_REUSEPORT`).
    ///
    /// # Errors
    ///
    /// The error of the operating system.
    pub fn bind_shared(address: SocketAddr, tls: Option<Tls>) -> io::Result<Self> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(true)?;
        socket.bind(address)?;
        Ok(Self {
            socket: socket.listen(BACKLOG)?,
            tls: tls.map(Arc::new),
        })
    }

    /// The address with the port that the operating system chose.
    ///
    /// # Errors
    ///
    /// The error of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Its certificates; `None` when it serves plain HTTP.
    #[must_use]
    pub fn tls(&self) -> Option<&Arc<Tls>> {
        self.tls.as_ref()
    }

    /// Serves until `stop` is signalled, then lets running requests finish for at most `drain`. Connections in other
    /// protocols have a further second at most for their closing messages.
    ///
    /// New connections are refused from the signal on; open ones are closed when their requests are answered.
    pub async fn serve<S: Service>(
        self,
        service: Arc<S>,
        limits: ConnectionLimits,
        mut stop: Shutdown,
        drain: Duration,
    ) {
        let closing = Closing::new();
        let slots = ConnectionSlots::new(limits.connections, limits.idle_for_others);
        let sessions = Arc::new(Sessions::new(service, limits));
        let reload = self
            .tls
            .clone()
            .map(|tls| task::spawn(async move { tls.keep_fresh().await }));
        loop {
            let next = async {
                let permit = slots.permit().await;
                (permit, self.accept(&slots).await)
            };
            let (permit, (stream, peer)) = tokio::select! {
                next = next => next,
                () = stop.requested() => break,
            };
            let slot = slots.register(permit);
            let (sessions, tls, signal) = (Arc::clone(&sessions), self.tls.clone(), closing.signal());
            task::spawn(async move {
                sessions.run(stream, peer, tls.as_ref(), signal, slot).await;
            });
        }
        drop(self.socket);
        match tokio::time::timeout(drain, closing.close()).await {
            Ok(()) => {
                // Connections in other protocols have no task here any more, but watches among them have closing
                // messages to send.
                at_most(drain.min(SHUTDOWN_TIMEOUT), slots.all_free(limits.connections)).await;
            }
            Err(_) => tracing::warn!(?drain, "some connections did not end in time"),
        }
        if let Some(reload) = reload {
            reload.abort();
        }
    }

    /// The next connection; connections that break before they are accepted are ignored.
    async fn accept(&self, slots: &ConnectionSlots) -> (TcpStream, SocketAddr) {
        loop {
            match self.socket.accept().await {
                Ok(accepted) => return accepted,
                Err(error) if is_about_one_connection(&error) => {}
                Err(error) => {
                    // Out of descriptors or memory: connections that close free some.
                    let closes_one = slots.close_quietest();
                    tracing::error!(%error, closes_one, "cannot accept connections");
                    tokio::time::sleep(Duration::from_millis(250)).await;
                }
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// Waits for `future` no longer than `limit`.
async fn at_most<F: Future>(limit: Duration, future: F) -> Option<F::Output> {
    tokio::time::timeout(limit, future).await.ok()
}

#[cfg(test)]
mod tests;
