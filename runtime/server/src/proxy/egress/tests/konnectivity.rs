//! A konnectivity server in gRPC, at a socket.

use std::convert::Infallible;

use axum::body::Body;
use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::stream;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::super::konnectivity::packet::Packet;
use super::*;

/// The number of the connection.
const CONNECTION: i64 = 7;

/// The server's side of a call.
struct Peer {
    requests: Incoming,
    read: BytesMut,
    answers: mpsc::Sender<Bytes>,
}

impl Peer {
    /// The next message; `None` after the client's last one.
    async fn next(&mut self) -> Option<Packet> {
        loop {
            if let Some(prefix) = self.read.get(..5) {
                let length = u32::from_be_bytes(prefix[1..].try_into().unwrap()) as usize;
                if self.read.len() >= 5 + length {
                    self.read.advance(5);
                    return Some(Packet::decode(&self.read.split_to(length).freeze()).unwrap());
                }
            }
            let frame = self.requests.frame().await?.ok()?;
            self.read.extend_from_slice(&frame.into_data().ok()?);
        }
    }

    async fn send(&self, packet: &Packet) {
        let mut message = vec![0; 5];
        packet.encode(&mut message);
        let length = u32::try_from(message.len() - 5).unwrap();
        message[1..5].copy_from_slice(&length.to_be_bytes());
        self.send_bytes(message.into()).await;
    }

    async fn send_bytes(&self, bytes: Bytes) {
        // The client may have ended the call.
        let _ = self.answers.send(bytes).await;
    }

    /// Reads the request for a connection, and answers it with `error`.
    async fn answer_dial(&mut self, error: &str) {
        let Some(Packet::DialRequest { random, .. }) = self.next().await else {
            panic!("the client sends no request")
        };
        let (error, connection) = (error.to_owned(), CONNECTION);
        self.send(&Packet::DialResponse {
            error,
            connection,
            random,
        })
        .await;
    }

    /// Echoes data until the connection is closed, and confirms that.
    async fn echo(&mut self) {
        while let Some(packet) = self.next().await {
            match packet {
                Packet::Data { .. } => self.send(&packet).await,
                Packet::CloseRequest { connection } => {
                    let error = String::new();
                    self.send(&Packet::CloseResponse { error, connection }).await;
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

/// A server for one call, which `serve` answers.
fn server<F>(serve: impl FnOnce(Peer) -> F + Send + 'static) -> (TempDir, ThroughProxy, JoinHandle<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("konnectivity.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let (peers, mut peer) = mpsc::channel(1);
        let answer = service_fn(move |request: Request<Incoming>| {
            let peers = peers.clone();
            async move {
                assert_eq!(request.uri().path(), "/ProxyService/Proxy");
                assert_eq!(request.headers()["content-type"], "application/grpc");
                let (answers, waiting) = mpsc::channel(4);
                let messages = stream::unfold(waiting, |mut waiting: mpsc::Receiver<Bytes>| async {
                    let message = waiting.recv().await?;
                    Some((Ok::<_, Infallible>(message), waiting))
                });
                let peer = Peer {
                    requests: request.into_body(),
                    read: BytesMut::new(),
                    answers,
                };
                peers.send(peer).await.unwrap_or_else(|_| panic!("one call at most"));
                let mut answer = Response::new(Body::from_stream(messages));
                let media_type = http::HeaderValue::from_static("application/grpc");
                answer.headers_mut().insert("content-type", media_type);
                Ok::<_, Infallible>(answer)
            }
        });
        let connection = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), answer);
        tokio::spawn(connection);
        serve(peer.recv().await.unwrap()).await
    });
    (folder, ThroughProxy::new(ProxyServer::Konnectivity(socket)), served)
}

#[tokio::test]
async fn data_passes_in_both_directions() {
    let (_folder, through, served) = server(|mut peer| async move {
        peer.answer_dial("").await;
        peer.echo().await;
    });
    echo_much(through.dial().await.unwrap()).await;
    served.await.unwrap();
    let labels = r#"{protocol="grpc",transport="uds"}"#;
    assert_eq!(
        through.series(),
        [
            format!("dial_duration_seconds_count{labels} 1"),
            format!("dial_start_total{labels} 1")
        ]
    );
}

#[tokio::test]
async fn refusals_are_reported_as_by_kube_apiserver() {
    let (_folder, through, _served) = server(|mut peer| async move {
        peer.answer_dial("dial tcp 10.0.0.1:10250: connect: connection refused")
            .await;
    });
    assert_eq!(
        through.refusal().await,
        "dial tcp 10.0.0.1:10250: connect: connection refused"
    );
    let labels = r#"protocol="grpc",stage="proxy",transport="uds""#;
    assert_eq!(through.series()[0], format!("dial_failure_count{{{labels}}} 1"));

    let (_folder, through, _served) = server(|mut peer| async move {
        let Some(Packet::DialRequest { random, .. }) = peer.next().await else {
            panic!("the client sends no request")
        };
        peer.send(&Packet::CloseDial { random }).await;
    });
    assert_eq!(through.refusal().await, "dial closed");

    let (_folder, through, _served) = server(|peer| async move { drop(peer) });
    assert_eq!(through.refusal().await, "tunnel closed");
}

#[tokio::test]
async fn connections_that_are_given_up_are_reported_to_the_server() {
    let (_folder, through, served) = server(|mut peer| async move {
        let first = peer.next().await;
        (first, peer.next().await, peer.next().await)
    });
    let error = through
        .dial_within(Duration::from_millis(300))
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(error.to_string(), "dial timeout, context");
    let (Some(Packet::DialRequest { random, .. }), closed, None) = served.await.unwrap() else {
        panic!("the client sends other messages")
    };
    assert_eq!(closed, Some(Packet::CloseDial { random }));
}

#[tokio::test]
async fn a_closed_connection_ends_after_its_last_data() {
    let (_folder, through, _served) = server(|mut peer| async move {
        peer.answer_dial("").await;
        let data = |connection, data| Packet::Data {
            connection,
            data: Bytes::from_static(data),
        };
        peer.send(&data(CONNECTION, b"some")).await;
        // Connections that the client does not know.
        peer.send(&data(0, b"lost")).await;
        peer.send(&data(8, b"lost")).await;
        assert_eq!(peer.next().await, Some(Packet::CloseRequest { connection: 8 }));
        peer.send(&data(CONNECTION, b"thing")).await;
        let (error, connection) = ("reset".to_owned(), CONNECTION);
        peer.send(&Packet::CloseResponse { error, connection }).await;
        std::future::pending::<()>().await;
    });
    let mut stream = through.dial().await.unwrap();
    let mut read = String::new();
    stream.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, "something");
    let mut written = Ok(());
    while written.is_ok() {
        written = stream.write_all(b"more").await;
    }
}

#[tokio::test]
async fn the_end_of_the_clients_data_closes_the_connection() {
    let (_folder, through, served) = server(|mut peer| async move {
        peer.answer_dial("").await;
        let (sent, closed) = (peer.next().await, peer.next().await);
        peer.send(&Packet::Data {
            connection: CONNECTION,
            data: Bytes::from_static(b"under way"),
        })
        .await;
        let (error, connection) = (String::new(), CONNECTION);
        peer.send(&Packet::CloseResponse { error, connection }).await;
        (sent, closed)
    });
    let mut stream = through.dial().await.unwrap();
    stream.write_all(b"last words").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut read = String::new();
    stream.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, "under way");
    let (Some(Packet::Data { data, .. }), closed) = served.await.unwrap() else {
        panic!("the client sends no data")
    };
    assert_eq!(data, "last words");
    assert_eq!(closed, Some(Packet::CloseRequest { connection: CONNECTION }));
}

#[tokio::test]
async fn messages_that_are_too_large_end_the_connection() {
    for prefix in [&b"\x00\x00\x40\x00\x01"[..], b"\x01\x00\x00\x00\x00"] {
        let (_folder, through, served) = server(move |mut peer| async move {
            peer.answer_dial("").await;
            peer.send_bytes(Bytes::from_static(prefix)).await;
            while peer.next().await.is_some() {}
        });
        let mut stream = through.dial().await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        served.await.unwrap();
    }
}

#[tokio::test]
async fn absent_servers_are_tried_again_until_the_deadline() {
    let through = ThroughProxy::new(ProxyServer::Konnectivity("/nonexistent/k.sock".into()));
    let error = through
        .dial_within(Duration::from_millis(50))
        .await
        .map(drop)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "context deadline exceeded: connection error: desc = \"transport: Error while dialing: dial unix /nonexistent/k.sock: \
         connect: no such file or directory\""
    );
    let labels = r#"protocol="grpc",stage="connect",transport="uds""#;
    assert_eq!(through.series()[0], format!("dial_failure_count{{{labels}}} 1"));
}
