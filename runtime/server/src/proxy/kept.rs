//! Connections that are kept for the next request.

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::header::HOST;
use http::{Request, Uri};
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tower::Service;

use super::{Link, LinkError, Target};

/// How long a connection without requests is kept, as Go does.
const IDLE: Duration = Duration::from_secs(90);

/// How often a quiet HTTP/2 connection is asked whether it lives, and how long that may take; Kubernetes' values.
const ASK_EVERY: Duration = Duration::from_secs(30);
const ASK_FOR: Duration = Duration::from_secs(15);

/// What HTTP/2 and its predecessor are called in a TLS handshake.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Connections to servers that speak TLS, by address.
#[derive(Clone)]
pub(super) struct Kept {
    client: Client<Dialer, Body>,
}

impl Kept {
    /// Connections that are opened by `link`.
    pub(super) fn new(link: &Link) -> Self {
        let mut tls = ClientConfig::clone(&link.tls);
        tls.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        let dialer = Dialer {
            link: Arc::new(link.clone()),
            tls: Arc::new(tls),
        };
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http2_keep_alive_interval(ASK_EVERY)
            .http2_keep_alive_timeout(ASK_FOR);
        Self {
            client: builder.build(dialer),
        }
    }

    /// Sends a request.
    pub(super) async fn send(
        &self,
        target: &Target,
        mut request: Request<Body>,
    ) -> Result<http::Response<Incoming>, LinkError> {
        let mut place = std::mem::take(request.uri_mut()).into_parts();
        place.scheme = Some(http::uri::Scheme::HTTPS);
        place.authority = target.authority().parse().ok();
        *request.uri_mut() = Uri::from_parts(place).map_err(|_| LinkError::Address)?;
        // It is that of the address, which HTTP/2 has a word of its own for.
        request.headers_mut().remove(HOST);
        self.client.request(request).await.map_err(|error| innermost(&error))
    }
}

/// The error that says most: what opening the connection failed with, if that was it.
fn innermost(error: &(dyn Error + 'static)) -> LinkError {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
        if inner.is::<LinkError>() {
            break;
        }
    }
    LinkError::Kept(inner.to_string())
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

/// Opens connections.
#[derive(Clone)]
struct Dialer {
    link: Arc<Link>,
    tls: Arc<ClientConfig>,
}

impl Service<Uri> for Dialer {
    type Response = Dialed;
    type Error = LinkError;
    type Future = BoxFuture<'static, Result<Dialed, LinkError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, place: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move {
            let host = place.host().unwrap_or_default().trim_matches(['[', ']']);
            let port = place.port_u16().unwrap_or(443);
            let stream = dialer.link.open(host, port, &dialer.tls).await?;
            Ok(Dialed(TokioIo::new(stream)))
        })
    }
}

/// An open connection.
struct Dialed(TokioIo<TlsStream<TcpStream>>);

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        let (_, session) = self.0.inner().get_ref();
        match session.alpn_protocol() == Some(PROTOCOLS[0]) {
            true => Connected::new().negotiated_h2(),
            false => Connected::new(),
        }
    }
}

impl Read for Dialed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for Dialed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, pieces)
    }
}
