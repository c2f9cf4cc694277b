//! Connections that are upgraded on the way.

use std::convert::Infallible;

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use super::*;

/// A server that tunnels every request to `target`; returns its port.
async fn front(target: Target) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let serve = service_fn(move |request: Request<Incoming>| {
            let target = target.clone();
            async move {
                let call = call(request.into_parts().0);
                let answer = tunnel(&call, &target, &link()).await;
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

async fn upgrade(port: u16) -> http::Response<Incoming> {
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let request = Request::get("/api/v1/namespaces/n/pods/p/exec?command=a")
        .header(HOST, "api.example")
        .header(CONNECTION, "Upgrade")
        .header(UPGRADE, "echo")
        .body(Body::empty())
        .unwrap();
    sender.send_request(request).await.unwrap()
}

#[tokio::test]
async fn bytes_after_the_upgrade_pass_in_both_directions() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port()),
        path: "/exec/n/p/c".to_owned(),
        query: "command=a".to_owned(),
    };
    let backend = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            received.push(stream.read_u8().await.unwrap());
        }
        let answer = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: echo\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).await.unwrap();
        let mut word = [0; 4];
        stream.read_exact(&mut word).await.unwrap();
        stream.write_all(&word).await.unwrap();
        String::from_utf8(received).unwrap()
    });
    let mut answer = upgrade(front(target).await).await;
    assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(answer.headers()[UPGRADE], "echo");
    let mut stream = TokioIo::new(hyper::upgrade::on(&mut answer).await.unwrap());
    let mut heard = [0; 5];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"hello");
    stream.write_all(b"ping").await.unwrap();
    let mut heard = [0; 4];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"ping");
    let received = backend.await.unwrap();
    assert!(
        received.starts_with("GET /exec/n/p/c?command=a HTTP/1.1\r\n"),
        "{received}"
    );
    assert!(
        received.contains("upgrade: echo\r\n") && received.contains("connection: Upgrade\r\n"),
        "{received}"
    );
    assert!(received.contains("x-forwarded-for: 192.0.2.7\r\n"), "{received}");
}

#[tokio::test]
async fn refusals_come_through_and_other_answers_do_not() {
    let (target, _) = backend("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno").await;
    let answer = upgrade(front(target).await).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    assert_eq!(&answer.into_body().collect().await.unwrap().to_bytes()[..], b"no");
    let (target, _) = backend("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let answer = upgrade(front(target).await).await;
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&text[..], b"invalid upgrade response: status code 200");
}
