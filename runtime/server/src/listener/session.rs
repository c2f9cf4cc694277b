//! One connection from its first byte to its last.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::header::CONNECTION;
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use planesmith_store::WakeGroup;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

use super::activity::RunningBody;
use super::bulk_turns::{BulkTurns, TURN};
use super::closing::{ClosingConnection, ClosingSignal};
use super::cutoff;
use super::exchanges::{Exchanges, StreamExecutor};
use super::host_header;
use super::peer::Peer;
use super::slots::ConnectionSlot;
use super::transport::Transport;
use super::write_coalescing::coalesce;
use super::{ConnectionLimits, Service, Tls, at_most};
use crate::failure;
use crate::own_task::OwnTask;
use crate::sending::Answer;

/// The bytes a client receives when it sends plain HTTP to the TLS port: the text of kube-apiserver.
const PLAIN_HTTP: &[u8] = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// Bytes of the client's request that are read, so that it receives the answer.
const MAX_UNREAD: u64 = 256 << 10;
/// Maximum unread bytes of one request body: two typical objects, and far below the body limit.
const STREAM_WINDOW: u32 = 256 << 10;
/// Maximum unread bytes of all request bodies of a connection.
const CONNECTION_WINDOW: u32 = 1 << 20;
/// Maximum bytes of one answer that wait for the network: those of a turn, because they are encoded without a pause.
const SEND_BUFFER: usize = TURN;
/// Maximum lines of the header of one HTTP/1.1 request: an impersonating proxy sends one for each group of its user. kube-apiserver
/// limits only the bytes; here the HTTP implementation reserves 64 bytes for each possible line while it reads a header.
const HEADER_LINES: usize = 1024;

/// The state that all connections share.
pub(super) struct Sessions<S> {
    service: Arc<S>,
    limits: ConnectionLimits,
    turns: BulkTurns,
}

impl<S: Service> Sessions<S> {
    /// Returns the state of connections that run on the present runtime.
    pub(super) fn new(service: Arc<S>, limits: ConnectionLimits) -> Self {
        let turns = BulkTurns::new(Handle::current().metrics().num_workers());
        Self { service, limits, turns }
    }

    /// The HTTP implementation for a connection whose exchanges go to `executor`.
    fn builder(&self, executor: StreamExecutor) -> Builder<StreamExecutor> {
        let limits = &self.limits;
        let mut builder = Builder::new(executor);
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.head)
            .max_headers(HEADER_LINES)
            .max_buf_size(limits.head_size.max(8 << 10) as usize);
        builder
            .http2()
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_send_buf_size(SEND_BUFFER)
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(limits.head_size)
            .keep_alive_interval(limits.ping)
            .keep_alive_timeout(limits.ping);
        builder
    }

    /// Serves a connection until it ends. Errors of connections are caused by clients and logged at debug level. The
    /// connection keeps its `slot` until then, also after an upgrade to another protocol.
    pub(super) async fn run(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        tls: Option<&Arc<Tls>>,
        signal: ClosingSignal,
        slot: ConnectionSlot,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%peer, %error, "TCP_NODELAY cannot be set");
        }
        let Some(tls) = tls else {
            return self.speak(Transport::Plain(stream), Peer::at(peer), signal, slot).await;
        };
        let handshake = async {
            let mut stream = stream;
            if is_plain_http(&stream).await? {
                stream.write_all(PLAIN_HTTP).await?;
                stream.shutdown().await?;
                // Closing a socket with unread bytes would reset the connection, and the client might never see the
                // answer.
                tokio::io::copy(&mut stream.take(MAX_UNREAD), &mut tokio::io::sink()).await?;
                return Err(io::Error::other("the client speaks plain HTTP"));
            }
            tls.accept(stream, peer).await
        };
        let handshake = at_most(self.limits.handshake, handshake);
        let handshake = tokio::select! {
            biased;
            handshake = handshake => handshake,
            () = slot.registration.close_requested() => return,
        };
        match handshake {
            None => {
                self.service.handshake_failed();
                tracing::debug!(%peer, "the TLS handshake took too long");
            }
            Some(Err(error)) => {
                self.service.handshake_failed();
                tracing::debug!(%peer, %error, "the TLS handshake failed");
            }
            Some(Ok((stream, client))) => {
                self.speak(Transport::Tls(Box::new(stream)), client, signal, slot).await;
            }
        }
    }

    /// Speaks HTTP until the connection ends. Boxed, because the state of HTTP would otherwise be a part of each future
    /// around it, the one of the handshake among them.
    fn speak(&self, io: Transport, client: Peer, signal: ClosingSignal, slot: ConnectionSlot) -> BoxFuture<'_, ()> {
        Box::pin(self.speak_http(io, client, signal, slot))
    }

    async fn speak_http(&self, io: Transport, client: Peer, signal: ClosingSignal, slot: ConnectionSlot) {
        let peer = client.connection().peer;
        let ConnectionSlot { permit, registration } = slot;
        let activity = registration.activity();
        let watches = Arc::<WakeGroup>::default();
        let closer = signal.closer();
        let service = service_fn(|request: Request<Incoming>| {
            let mut running = activity.begin();
            let shares = request.version() == Version::HTTP_2;
            let refused = host_header::refusal(&request);
            let mut request = request.map(Body::new);
            if shares {
                request.extensions_mut().insert(Arc::clone(&watches));
            }
            let service = &self.service;
            let answer = refused
                .is_none()
                .then(|| Arc::clone(service).serve(request, client.connection()));
            let closer = shares.then(|| Arc::clone(&closer));
            async move {
                let Some(answer) = answer else {
                    running.send_in_order(None);
                    let refused = refused.unwrap_or_default();
                    return Ok(refused.map(|body| RunningBody {
                        body,
                        _running: running,
                    }));
                };
                // Other requests of the same connection continue meanwhile.
                let answer = if let Some(closer) = closer {
                    let mut answer = OwnTask::run(answer).await.unwrap_or_else(broken);
                    // HTTP/2 has no such header; the connection says it itself.
                    if answer.response.headers_mut().remove(CONNECTION).is_some() {
                        closer.notify_one();
                    }
                    cutoff::set_due(answer.until);
                    answer
                } else {
                    let answer = answer.await;
                    running.send_in_order(answer.until);
                    answer
                };
                Ok::<_, Infallible>(answer.response.map(|body| RunningBody {
                    body,
                    _running: running,
                }))
            }
        });
        let (io, flusher) = coalesce(io, permit, Arc::clone(activity));
        let executor = StreamExecutor::default();
        let builder = self.builder(executor.clone());
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(io), service);
        let connection = ClosingConnection::new(connection, |open| open.graceful_shutdown(), signal);
        let exchanges = Exchanges::new(executor, Arc::clone(&watches));
        let connection = flusher.run(connection, exchanges, self.turns.sender(), || activity.is_crowded());
        let mut connection = pin!(connection);
        let mut overdue = pin!(cutoff::overdue(Arc::clone(activity)));
        loop {
            tokio::select! {
                biased;
                result = connection.as_mut() => {
                    if let Err(error) = result {
                        tracing::debug!(?peer, error = &*error, "a connection broke");
                    }
                    return;
                }
                () = overdue.as_mut() => {
                    tracing::info!(?peer, "a client did not read its answer in time; the connection is closed");
                    return;
                }
                () = registration.close_requested() => {
                    if activity.quiet().is_some() {
                        tracing::debug!(?peer, "an idle connection is closed for a new one");
                        return;
                    }
                    registration.keep_open();
                }
                () = tokio::time::sleep(self.limits.idle) => {
                    // Checked rarely: an idle connection lives up to twice as long as the limit.
                    if activity.quiet().is_some_and(|quiet| quiet >= self.limits.idle) {
                        return;
                    }
                }
            }
        }
    }
}

/// The answer for a handler that panicked outside of the panic guard.
fn broken() -> Answer {
    tracing::error!("a handler panicked; this is a bug");
    failure::panicked().into()
}

/// True if the first byte begins the name of an HTTP method; a TLS record begins with 0x16.
async fn is_plain_http(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    Ok(first[0].is_ascii_uppercase())
}
