//! A client and a kubelet on loopback, with the translation between them.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{CONNECTION, HOST, UPGRADE};
use http::{Method, Request, StatusCode};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::service::service_fn;
use planesmith_machinery::feature::Features;
use planesmith_server::proxy::{Destination, Dialer, client_tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::*;
use crate::spdy::tests::peer::{Peer, data};

const FLAGS: StreamFlags = StreamFlags {
    stdin: true,
    stdout: true,
    stderr: false,
    tty: false,
};

/// A server that translates every request for the kubelet at `kubelet`; returns its port.
async fn front(kubelet: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let serve = service_fn(move |request: Request<Incoming>| async move {
            let target = Target {
                secure: false,
                destination: Destination::unrestricted("127.0.0.1", kubelet),
                path: "/exec/n/p/c".to_owned(),
                query: "command=cat&input=1&output=1".to_owned(),
            };
            let link = Link::new(
                client_tls(None, None).unwrap(),
                Duration::from_secs(5),
                &Dialer::default(),
            );
            let request = request.into_parts().0;
            assert!(is_translated(&request.headers, Features::defaults()));
            Ok::<_, Infallible>(translate(&request, target, link, FLAGS))
        });
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), serve);
        let _ = connection.with_upgrades().await;
    });
    port
}

async fn send(port: u16, method: Method, headers: &[(&str, &str)]) -> http::Response<Incoming> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let mut request = Request::builder()
        .method(method)
        .uri("/api/v1/namespaces/n/pods/p/exec?command=cat&stdin=true&stdout=true")
        .header(HOST, "api.example")
        .header(CONNECTION, "keep-alive, Upgrade")
        .header(UPGRADE, "websocket")
        .header("sec-websocket-protocol", "v9.channel.k8s.io, v5.channel.k8s.io");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    sender.send_request(request.body(Body::empty()).unwrap()).await.unwrap()
}

const RIGHT: [(&str, &str); 2] = [
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("sec-websocket-version", "13"),
];

async fn client(answer: &mut http::Response<Incoming>) -> WebSocketStream<TokioIo<hyper::upgrade::Upgraded>> {
    let stream = TokioIo::new(hyper::upgrade::on(answer).await.unwrap());
    WebSocketStream::from_raw_socket(stream, Role::Client, None).await
}

/// Takes one connection, and answers its request with `answer`.
async fn kubelet(listener: &TcpListener, answer: &str) -> (String, TcpStream) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"\r\n\r\n") {
        received.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(answer.as_bytes()).await.unwrap();
    (String::from_utf8(received).unwrap(), stream)
}

#[tokio::test]
async fn a_command_runs_with_a_client_in_web_socket_and_a_kubelet_in_spdy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let agreed = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\
                      x-stream-protocol-version: v4.channel.k8s.io\r\n\r\n";
        let (received, stream) = kubelet(&listener, agreed).await;
        let mut peer = Peer::new(stream);
        for kind in ["error", "stdin", "stdout"] {
            assert_eq!(peer.accept().await.1, [("streamtype".to_owned(), kind.to_owned())]);
        }
        // `cat`: input comes back as output, and the command ends with the end of the input.
        loop {
            let (stream, bytes, is_last) = peer.data().await;
            assert_eq!(stream, 3);
            peer.send(&data(5, &bytes, is_last)).await;
            if is_last {
                break;
            }
        }
        peer.send(&data(1, br#"{"metadata":{},"status":"Success"}"#, true))
            .await;
        peer.end().await;
        received
    });
    let mut answer = send(front(port).await, Method::GET, &RIGHT).await;
    assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(answer.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(answer.headers()["sec-websocket-protocol"], "v5.channel.k8s.io");
    let mut client = client(&mut answer).await;
    client.send(Message::binary(b"\0hello".to_vec())).await.unwrap();
    client.send(Message::binary(vec![255, 0])).await.unwrap();
    let mut heard = Vec::new();
    while let Some(Ok(Message::Binary(said))) = client.next().await {
        heard.push(said.to_vec());
    }
    while client.next().await.is_some() {}
    let success = [&[3][..], br#"{"metadata":{},"status":"Success"}"#].concat();
    assert_eq!(heard, [vec![1], b"\x01hello".to_vec(), success]);
    let received = serving.await.unwrap();
    assert!(
        received.starts_with("POST /exec/n/p/c?command=cat&input=1&output=1 HTTP/1.1\r\n"),
        "{received}"
    );
    for version in 2..=5 {
        assert!(
            received.contains(&format!("x-stream-protocol-version: v{version}.channel.k8s.io\r\n")),
            "{received}"
        );
    }
    assert!(
        received.contains("upgrade: SPDY/3.1\r\n") && !received.contains("websocket"),
        "{received}"
    );
}

#[tokio::test]
async fn a_refusal_of_the_kubelet_is_sent_on_the_error_channel() {
    let refusal = "HTTP/1.1 404 Not Found\r\ncontent-length: 17\r\n\r\nno such container";
    let elsewhere = "HTTP/1.1 302 Found\r\nlocation: https://192.0.2.1/\r\ncontent-length: 0\r\n\r\n";
    let unknown = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\
                   x-stream-protocol-version: v99\r\n\r\n";
    for (answer, expected) in [
        (refusal, "unable to upgrade connection: no such container"),
        (elsewhere, ": redirect not allowed"),
        (unknown, r#"the kubelet chose an unknown protocol \"v99\""#),
        ("", "connect: connection refused"),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        if answer.is_empty() {
            drop(listener);
        } else {
            tokio::spawn(async move { kubelet(&listener, answer).await });
        }
        let mut answer = send(front(port).await, Method::GET, &RIGHT).await;
        let mut client = client(&mut answer).await;
        assert_eq!(client.next().await.unwrap().unwrap(), Message::binary(vec![1]));
        let status = client.next().await.unwrap().unwrap().into_text();
        let status = status.unwrap();
        let status = status.as_str().strip_prefix('\x03').expect("the error channel");
        assert!(
            status.contains(expected) && status.ends_with(r#""code":500}"#),
            "{status}"
        );
    }
}

#[tokio::test]
async fn wrong_handshakes_are_refused() {
    for (method, headers, status) in [
        (Method::POST, &RIGHT[..], StatusCode::METHOD_NOT_ALLOWED),
        (Method::GET, &RIGHT[..1], StatusCode::BAD_REQUEST),
        (Method::GET, &RIGHT[1..], StatusCode::BAD_REQUEST),
    ] {
        let answer = send(front(1).await, method, headers).await;
        assert_eq!(answer.status(), status);
    }
}

#[test]
fn only_version_five_is_translated() {
    let asks = |upgrade: &str, offered: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, "Upgrade".parse().unwrap());
        headers.insert(UPGRADE, upgrade.parse().unwrap());
        headers.insert("sec-websocket-protocol", offered.parse().unwrap());
        is_translated(&headers, Features::defaults())
    };
    assert!(asks("websocket", "v5.channel.k8s.io") && asks("WebSocket", "v4.channel.k8s.io ,v5.channel.k8s.io"));
    assert!(
        !asks("websocket", "v4.channel.k8s.io") && !asks("SPDY/3.1", "v5.channel.k8s.io") && !asks("websocket", "")
    );
}
