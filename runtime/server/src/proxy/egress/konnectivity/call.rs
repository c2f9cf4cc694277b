//! A call with messages in both directions, in gRPC over HTTP/2.

use axum::body::Body;
use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, stream};
use http::header::{CONTENT_TYPE, TE};
use http::{HeaderValue, Method, Request, Uri};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::CLOSE_TIMEOUT;
use super::packet::Packet;
use crate::proxy::LinkError;
use crate::task;

/// The method of the server.
const METHOD: &str = "http://localhost/ProxyService/Proxy";
const MEDIA_TYPE: &str = "application/grpc";

/// Bytes in front of each message: a flag, and the length.
const PREFIX: usize = 5;

/// Maximum bytes of a message, as in Go's gRPC.
const MAX_MESSAGE: usize = 4 << 20;

/// Bytes that may be under way on the connection.
const WINDOW: u32 = 256 << 10;

/// Messages that wait to be sent.
const MAX_WAITING: usize = 4;

/// A call. Dropping it closes its connection at once.
pub(in crate::proxy::egress) struct Call {
    pub(super) sender: Sender,
    pub(super) packets: Packets,
    connection: AbortOnDrop,
}

/// The task of the connection.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends messages; cheap to clone. The last clone ends the client's side.
#[derive(Clone)]
pub(super) struct Sender(mpsc::Sender<Bytes>);

/// The messages of the server.
pub(super) struct Packets {
    /// The answer, until its headers are there: a server sends them with its first message.
    answer: Option<BoxFuture<'static, Option<Incoming>>>,
    body: Option<Incoming>,
    buffer: BytesMut,
}

impl Call {
    /// Calls the method over a new connection.
    ///
    /// # Errors
    ///
    /// The connection cannot be used.
    pub(super) async fn open(stream: UnixStream) -> Result<Self, LinkError> {
        let (mut requests, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        let connection = task::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to a konnectivity server broke");
            }
        });
        let (sender, waiting) = mpsc::channel::<Bytes>(MAX_WAITING);
        let messages = stream::unfold(waiting, |mut waiting| async {
            let message = waiting.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(message), waiting))
        });
        let mut request = Request::new(Body::from_stream(messages));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static(METHOD);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        let answer = requests.send_request(request);
        let answer = async move {
            let answer = answer.await;
            let answer = answer.inspect_err(|error| tracing::debug!(%error, "a konnectivity server did not answer"));
            answer.ok().filter(is_grpc).map(http::Response::into_body)
        };
        Ok(Self {
            sender: Sender(sender),
            packets: Packets {
                answer: Some(answer.boxed()),
                body: None,
                buffer: BytesMut::new(),
            },
            connection: AbortOnDrop(connection),
        })
    }

    /// Ends the call in order: for a limited time, the messages that wait are sent, and the server may end its side.
    pub(super) async fn close(self) {
        let Self {
            sender,
            mut packets,
            connection: _connection,
        } = self;
        drop(sender);
        let draining = async { while packets.next().await.is_some() {} };
        if timeout(CLOSE_TIMEOUT, draining).await.is_err() {
            tracing::debug!("a konnectivity server did not end a call");
        }
    }
}

impl Sender {
    /// Sends a message; waits while the server does not read. Returns false once the call has ended.
    pub(super) async fn send(&self, packet: &Packet) -> bool {
        let mut message = vec![0; PREFIX];
        packet.encode(&mut message);
        let length = u32::try_from(message.len() - PREFIX).expect("messages are small");
        message[1..PREFIX].copy_from_slice(&length.to_be_bytes());
        self.0.send(message.into()).await.is_ok()
    }
}

impl Packets {
    /// The next message; `None` once the call has ended. Cancelling the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        if let Some(answer) = &mut self.answer {
            self.body = answer.await;
            self.answer = None;
        }
        loop {
            if let Some(message) = self.buffered() {
                return message;
            }
            let frame = self.body.as_mut()?.frame().await?;
            let frame = frame.inspect_err(|error| tracing::debug!(%error, "a call of a konnectivity server broke"));
            if let Ok(data) = frame.ok()?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }

    /// The first message in the buffer: `None` while it is not complete, and `Some(None)` if it cannot be read.
    fn buffered(&mut self) -> Option<Option<Bytes>> {
        let prefix: [u8; PREFIX] = self.buffer.get(..PREFIX)?.try_into().ok()?;
        let [compressed, length @ ..] = prefix;
        let length = u32::from_be_bytes(length) as usize;
        if compressed != 0 || length > MAX_MESSAGE {
            tracing::warn!(
                compressed,
                length,
                "a konnectivity server sent a message that is compressed or too large"
            );
            self.body = None;
            self.buffer.clear();
            return Some(None);
        }
        if self.buffer.len() < PREFIX + length {
            return None;
        }
        self.buffer.advance(PREFIX);
        Some(Some(self.buffer.split_to(length).freeze()))
    }
}

/// True for an answer in gRPC; the server refuses a call otherwise.
fn is_grpc(answer: &http::Response<Incoming>) -> bool {
    let media_type = answer.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let is_grpc =
        answer.status().is_success() && media_type.is_some_and(|type_| type_.starts_with(MEDIA_TYPE.as_bytes()));
    if !is_grpc {
        tracing::debug!(
            status = answer.status().as_u16(),
            "a konnectivity server does not answer in gRPC"
        );
    }
    is_grpc
}
