//! The pool of connections to other servers.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::header::HOST;
use http::{Extensions, Method, Request, Uri};
use http_body::Body as _;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::client::legacy::{Client, Error as PoolError};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio_rustls::client::TlsStream;
use tower::Service;

use super::answer::{AnswerBody, StreamSlot, StreamSlots};
use super::destination::Scope;
use super::dialer::BoxedStream;
use super::{Destination, Link, LinkError, Target};

/// Time after which an idle connection is closed; Go's value.
const IDLE: Duration = Duration::from_secs(90);

/// Interval of pings on a quiet HTTP/2 connection, and time to answer one; Kubernetes' values.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(15);

/// The names of HTTP/2 and HTTP/1.1 in TLS handshakes (ALPN).
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Maximum number of requests that share an HTTP/2 connection. Most servers allow as many, few allow less; a request
/// beyond the limit would wait until another ends, and watches do not end.
const MAX_STREAMS: usize = 100;

/// Pooled TLS connections to other servers, by address.
#[derive(Clone)]
pub(super) struct ConnectionPool {
    link: Arc<Link>,
    tls: Arc<ClientConfig>,
    lanes: Arc<Mutex<Vec<Lane>>>,
    /// True if servers may choose HTTP/2, in which requests share connections.
    speaks_http2: bool,
}

/// One connection to each address, if the server there speaks HTTP/2.
struct Lane {
    scope: Scope,
    client: Client<PoolConnector, Body>,
    places: StreamSlots,
}

impl ConnectionPool {
    /// Returns a pool whose connections `link` opens.
    pub(super) fn new(link: &Link) -> Self {
        Self::with_protocols(link, &PROTOCOLS)
    }

    /// Returns a pool of connections that speak HTTP/1.1 alone.
    pub(super) fn of_http1(link: &Link) -> Self {
        Self::with_protocols(link, &PROTOCOLS[1..])
    }

    fn with_protocols(link: &Link, protocols: &[&[u8]]) -> Self {
        let mut tls = ClientConfig::clone(&link.tls);
        tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        Self {
            link: Arc::new(link.clone()),
            tls: Arc::new(tls),
            lanes: Arc::default(),
            speaks_http2: protocols.contains(&PROTOCOLS[0]),
        }
    }

    /// Sends a request.
    pub(super) async fn send(
        &self,
        target: &Target,
        mut request: Request<Body>,
    ) -> Result<http::Response<AnswerBody>, LinkError> {
        let mut place = std::mem::take(request.uri_mut()).into_parts();
        place.scheme = Some(http::uri::Scheme::HTTPS);
        place.authority = target.authority().parse().ok();
        *request.uri_mut() = Uri::from_parts(place).map_err(|_| LinkError::Address)?;
        if self.speaks_http2 {
            // HTTP/2 sends the host in `:authority`, which is taken from the URI.
            request.headers_mut().remove(HOST);
        }
        let (client, place) = self.lane(target.destination.scope());
        let repeated = repeatable(&request);
        let mut answer = client.request(request).await;
        // The client itself repeats a request of which nothing was sent. Each repetition removes a used connection from the pool.
        while let (Err(error), Some(repeated)) = (&answer, repeated.as_ref().and_then(repeatable))
            && is_closed_when_idle(error)
        {
            answer = client.request(repeated).await;
        }
        let mut answer = answer.map_err(|error| innermost(&error))?;
        if let Some(used) = answer.extensions_mut().remove::<Used>() {
            used.0.store(true, Ordering::Relaxed);
        }
        Ok(answer.map(|body| AnswerBody::new(body, Some(place))))
    }

    /// The first lane of that scope with a free place: later ones become idle when there are few requests, and lose
    /// their connections.
    fn lane(&self, scope: Scope) -> (Client<PoolConnector, Body>, StreamSlot) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |lane: &Lane| lane.scope == scope && (!self.speaks_http2 || lane.places.taken() < MAX_STREAMS);
        let free = lanes.iter().position(is_free).unwrap_or_else(|| {
            let (link, tls) = (Arc::clone(&self.link), Arc::clone(&self.tls));
            lanes.push(Lane::new(PoolConnector { link, tls, scope }));
            lanes.len() - 1
        });
        let lane = &lanes[free];
        (lane.client.clone(), lane.places.take())
    }
}

impl Lane {
    fn new(connector: PoolConnector) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http2_keep_alive_interval(PING_INTERVAL)
            .http2_keep_alive_timeout(PING_TIMEOUT);
        Self {
            scope: connector.scope,
            client: builder.build(connector),
            places: StreamSlots::default(),
        }
    }
}

/// Returns a copy of a read without a body. Other requests are not sent again, because the server may have handled them.
fn repeatable(request: &Request<Body>) -> Option<Request<Body>> {
    let is_read = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE
    );
    if !is_read || !request.body().is_end_stream() {
        return None;
    }
    let mut copy = Request::new(Body::empty());
    copy.method_mut().clone_from(request.method());
    copy.uri_mut().clone_from(request.uri());
    copy.headers_mut().clone_from(request.headers());
    Some(copy)
}

/// True if the request met a connection that had answered others, and that the server has closed without an answer: most likely it
/// was idle for too long.
fn is_closed_when_idle(error: &PoolError) -> bool {
    let mut extensions = Extensions::new();
    if let Some(connection) = error.connect_info() {
        connection.get_extras(&mut extensions);
    }
    let is_used = extensions
        .get::<Used>()
        .is_some_and(|used| used.0.load(Ordering::Relaxed));
    let is_closed = |error: &(dyn Error + 'static)| {
        let io = error.downcast_ref::<io::Error>().map(io::Error::kind);
        let is_incomplete = error
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_incomplete_message);
        is_incomplete
            || matches!(
                io,
                Some(io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
            )
    };
    let mut cause = error.source();
    while let Some(error) = cause {
        if is_closed(error) {
            return is_used;
        }
        cause = error.source();
    }
    false
}

/// The most specific error: that of opening the connection, if that failed.
fn innermost(error: &(dyn Error + 'static)) -> LinkError {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
        if inner.is::<LinkError>() {
            break;
        }
    }
    let is_cut = inner
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
        || inner
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_incomplete_message);
    match is_cut {
        // In Go's word.
        true => LinkError::ConnectionPool("EOF".to_owned()),
        false => LinkError::ConnectionPool(inner.to_string()),
    }
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionPool").finish_non_exhaustive()
    }
}

/// Opens connections.
#[derive(Clone)]
struct PoolConnector {
    link: Arc<Link>,
    tls: Arc<ClientConfig>,
    /// The addresses that connections may use, which a URI does not contain.
    scope: Scope,
}

impl Service<Uri> for PoolConnector {
    type Response = Dialed;
    type Error = LinkError;
    type Future = BoxFuture<'static, Result<Dialed, LinkError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, place: Uri) -> Self::Future {
        let connector = self.clone();
        Box::pin(async move {
            let host = place.host().unwrap_or_default().trim_matches(['[', ']']);
            let port = place.port_u16().unwrap_or(443);
            let destination = Destination::with_scope(host, port, connector.scope);
            let stream = connector.link.open(&destination, &connector.tls).await?;
            Ok(Dialed {
                stream: TokioIo::new(stream),
                used: Used::default(),
            })
        })
    }
}

/// An open connection.
struct Dialed {
    stream: TokioIo<TlsStream<BoxedStream>>,
    used: Used,
}

/// True once the connection has answered a request. The client adds it to the answers and errors of the connection.
#[derive(Clone, Debug, Default)]
struct Used(Arc<AtomicBool>);

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        let (_, session) = self.stream.inner().get_ref();
        let connected = Connected::new().extra(self.used.clone());
        match session.alpn_protocol() == Some(PROTOCOLS[0]) {
            true => connected.negotiated_h2(),
            false => connected,
        }
    }
}

impl Read for Dialed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Dialed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, pieces)
    }
}
