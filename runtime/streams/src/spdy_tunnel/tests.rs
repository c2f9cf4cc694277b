use std::convert::Infallible;

use axum::body::Body;
use http::Request;
use http::header::HOST;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::service::service_fn;
use planesmith_machinery::status::ApiError;
use planesmith_server::proxy::{Destination, Dialer, client_tls};
use planesmith_server::request::Context;
use planesmith_server::shutdown::Stop;
use tokio::net::{TcpListener, TcpStream};

use super::*;

fn link() -> Link {
    Link::new(
        client_tls(None, None).unwrap(),
        Duration::from_secs(5),
        &Dialer::default(),
    )
}

/// A server that tunnels SPDY inside of WebSocket to `target`; returns its port.
async fn front(target: Target) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let serve = service_fn(move |request: Request<Incoming>| {
            let target = target.clone();
            async move {
                let (_, shutdown) = Stop::new();
                let call = Call::new(Context::unknown(shutdown), request.into_parts().0);
                assert!(is_spdy_tunnel(&call.parts.headers, &call.ctx.features));
                let answer = tunnel_spdy(&call, &target, &link()).await;
                let failed = |error: ApiError| {
                    let mut response = Response::new(Body::from(error.message().to_owned()));
                    *response.status_mut() = StatusCode::from_u16(error.code()).unwrap();
                    response
                };
                Ok::<_, Infallible>(answer.unwrap_or_else(failed))
            }
        });
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), serve);
        connection.with_upgrades().await.unwrap();
    });
    port
}

/// A backend that answers one request with `answer`.
async fn backend(answer: &'static str) -> Target {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            received.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", port),
        path: "/x/y".to_owned(),
        query: "a=b".to_owned(),
    }
}

const OFFER: &str = "v4.channel.k8s.io, SPDY/3.1+portforward.k8s.io";

async fn upgrade_to_web_socket(port: u16, key: &str) -> http::Response<Incoming> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let request = Request::get("/api/v1/namespaces/n/pods/p/portforward")
        .header(HOST, "api.example")
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", key)
        .header("sec-websocket-protocol", OFFER)
        .header("x-own", "1")
        .body(Body::empty())
        .unwrap();
    sender.send_request(request).await.unwrap()
}

/// The key in the example of the WebSocket standard.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\
                      x-stream-protocol-version: portforward.k8s.io\r\n\r\n";

#[tokio::test]
async fn spdy_goes_through_web_socket() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port()),
        path: "/portForward/n/p".to_owned(),
        query: String::new(),
    };
    let backend = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            received.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(AGREED.as_bytes()).await.unwrap();
        stream.write_all(b"frames").await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        (String::from_utf8(received).unwrap(), heard)
    });
    let mut answer = upgrade_to_web_socket(front(target).await, KEY).await;
    assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(answer.headers()["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    assert_eq!(
        answer.headers()["sec-websocket-protocol"],
        "SPDY/3.1+portforward.k8s.io"
    );
    let stream = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
    let mut client = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    assert_eq!(
        client.next().await.unwrap().unwrap(),
        Message::binary(b"frames".to_vec())
    );
    client.send(Message::binary(b"hel".to_vec())).await.unwrap();
    client.send(Message::Ping(Bytes::new())).await.unwrap();
    client.send(Message::binary(b"lo".to_vec())).await.unwrap();
    client.close(None).await.unwrap();
    while client.next().await.is_some() {}
    let (received, heard) = backend.await.unwrap();
    assert_eq!(heard, b"hello");
    assert!(received.starts_with("POST /portForward/n/p HTTP/1.1\r\n"), "{received}");
    for line in [
        "upgrade: SPDY/3.1",
        "x-stream-protocol-version: portforward.k8s.io",
        "x-own: 1",
    ] {
        assert!(received.contains(&format!("{line}\r\n")), "{received}");
    }
    assert!(!received.contains("sec-websocket"), "{received}");
}

#[tokio::test]
async fn tunnels_end_with_either_side_and_refusals_come_through() {
    let target = backend(AGREED).await;
    let mut answer = upgrade_to_web_socket(front(target).await, KEY).await;
    let stream = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
    let mut client = WebSocketStream::from_raw_socket(stream, Role::Client, None).await;
    let Some(Ok(Message::Close(Some(frame)))) = client.next().await else {
        panic!("the tunnel goes on");
    };
    assert_eq!(u16::from(frame.code), 1000);

    for (answer, key, status, text) in [
        (
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno",
            KEY,
            400,
            "no",
        ),
        (
            "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\n",
            KEY,
            500,
            "unable to upgrade: missing upgrade headers in response\n",
        ),
        (AGREED, "c2hvcnQ=", 400, "Bad Request\n"),
    ] {
        let target = backend(answer).await;
        let answer = upgrade_to_web_socket(front(target).await, key).await;
        assert_eq!(answer.status(), status);
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(&body[..], text.as_bytes());
    }
}
