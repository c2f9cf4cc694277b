//! Clients that keep the server waiting.

use super::*;

/// Sends `bytes` and nothing more; returns what the server sends until it closes the connection.
async fn send_and_wait(serving: &Serving, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A reset instead of an end closes the connection just as well.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let pki = tls::Pki::new();
    let serving = serve(
        Some(pki.tls()),
        ConnectionLimits {
            handshake: SHORT_LIMIT,
            ..ConnectionLimits::default()
        },
    )
    .await;
    assert_eq!(send_and_wait(&serving, b"").await, "");
    assert_eq!(send_and_wait(&serving, b"\x16\x03\x01").await, "");
}

#[tokio::test]
async fn a_head_that_does_not_end_is_given_up() {
    let serving = serve(
        None,
        ConnectionLimits {
            head: SHORT_LIMIT,
            ..ConnectionLimits::default()
        },
    )
    .await;
    send_and_wait(&serving, b"GET / HTTP/1.1\r\nhost: x\r\nx-more: ").await;
}

#[tokio::test]
async fn a_connection_without_requests_is_closed() {
    let limits = ConnectionLimits {
        idle: SHORT_LIMIT,
        head: Duration::from_secs(60),
        ..ConnectionLimits::default()
    };
    let serving = serve(None, limits).await;
    let mut answer = String::new();
    // On a slow machine the connection may have been idle for too long before the request arrives.
    while answer.is_empty() {
        answer = send_and_wait(&serving, b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    }
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("nobody"),
        "{answer}"
    );
    // The preface and empty settings of HTTP/2, and then silence.
    send_and_wait(&serving, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let serving = serve(
        None,
        ConnectionLimits {
            head_size: 16 << 10,
            ..ConnectionLimits::default()
        },
    )
    .await;
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nx-large: {}\r\n\r\n", "x".repeat(64 << 10));
    let answer = send_and_wait(&serving, head.as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_head_may_have_many_lines() {
    let serving = serve(None, ConnectionLimits::default()).await;
    let groups: String = (0..1000)
        .map(|group| format!("impersonate-group: {group}\r\n"))
        .collect();
    let head = format!("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{groups}\r\n");
    let answer = send_and_wait(&serving, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[tokio::test]
async fn further_connections_wait_for_room() {
    let serving = serve(
        None,
        ConnectionLimits {
            connections: 1,
            ..ConnectionLimits::default()
        },
    )
    .await;
    let first = TcpStream::connect(serving.address).await.unwrap();
    let second = send_and_wait(&serving, b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    let mut second = Box::pin(second);
    let waits = tokio::time::timeout(SHORT_LIMIT, second.as_mut()).await;
    assert!(waits.is_err(), "served beyond the limit");
    drop(first);
    assert!(second.await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn an_answer_that_is_not_read_in_time_ends() {
    let serving = serve(None, ConnectionLimits::default()).await;
    let answer = send_and_wait(&serving, b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "the head is sent");
    let stream = TcpStream::connect(serving.address).await.unwrap();
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut get = |path: &str| {
        let request = Request::get(format!("http://x{path}"));
        sender.send_request(request.body(Body::empty()).unwrap())
    };
    let endless = get("/endless").await.unwrap();
    assert_eq!(endless.status(), StatusCode::OK);
    assert!(endless.into_body().collect().await.is_err(), "the stream is reset");
    let other = get("/").await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(other.to_bytes(), "nobody", "the connection goes on");
}

#[tokio::test]
async fn an_answer_whose_last_bytes_are_not_read_in_time_ends() {
    let serving = serve(None, ConnectionLimits::default()).await;
    // HTTP/1 knows its length, and has buffered all of it at once.
    let answer = send_and_wait(&serving, b"GET /overdue HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(answer.len() < LARGE, "{} bytes", answer.len());
}

#[tokio::test]
async fn a_connection_has_a_hundred_streams() {
    let serving = serve(None, ConnectionLimits::default()).await;
    let mut stream = TcpStream::connect(serving.address).await.unwrap();
    stream
        .write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .await
        .unwrap();
    let mut head = [0; 9];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[3], 4, "settings come first");
    let mut settings = vec![0; usize::from(head[2])];
    stream.read_exact(&mut settings).await.unwrap();
    let streams = settings.chunks(6).find(|setting| setting[1] == 3).unwrap();
    assert_eq!(streams[2..], 100_u32.to_be_bytes());
}

#[tokio::test]
async fn idle_connections_keep_nobody_out() {
    for tls in [None, Some(tls::Pki::new().tls())] {
        let limits = ConnectionLimits {
            connections: 3,
            idle_for_others: Duration::ZERO,
            ..ConnectionLimits::default()
        };
        let has_tls = tls.is_some();
        let serving = serve(tls, limits).await;
        let mut idle = Vec::new();
        for _ in 0..8 {
            idle.push(TcpStream::connect(serving.address).await.unwrap());
        }
        let mut last = TcpStream::connect(serving.address).await.unwrap();
        last.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        let _ = last.read_to_string(&mut answer).await;
        let expected = if has_tls { "HTTP/1.0 400" } else { "HTTP/1.0 200" };
        assert!(answer.starts_with(expected), "{answer}");
    }
}

#[tokio::test]
async fn a_request_without_a_host_is_refused_in_the_words_of_go() {
    let serving = serve(None, ConnectionLimits::default()).await;
    let answer = send_and_wait(&serving, b"GET / HTTP/1.1\r\n\r\n").await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap();
    assert_eq!(status, "HTTP/1.1 400 Bad Request: missing required Host header");
    assert_eq!(body, "400 Bad Request: missing required Host header");
    let headers: Vec<_> = lines.collect();
    assert!(headers.contains(&"content-type: text/plain; charset=utf-8"), "{head}");
    assert!(headers.contains(&"connection: close"), "{head}");
    let answer = send_and_wait(&serving, b"GET / HTTP/1.1\r\nhost: a/b\r\n\r\n").await;
    assert!(
        answer.starts_with("HTTP/1.1 400 Bad Request: malformed Host header\r\n"),
        "{answer}"
    );
}
