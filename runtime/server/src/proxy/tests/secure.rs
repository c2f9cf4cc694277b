//! TLS to proxied servers.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::*;

/// A self-signed certificate for a server, which is written to `ca.pem` in the folder. `is_ca` is its basic constraint.
fn tls(is_ca: IsCa) -> (TempDir, ServerConfig) {
    let key = KeyPair::generate().unwrap();
    let mut certificate = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    certificate.is_ca = is_ca;
    let certificate = certificate.self_signed(&key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ca.pem"), certificate.pem()).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (folder, tls)
}

fn target(port: u16, path: &str) -> Target {
    Target {
        secure: true,
        destination: Destination::unrestricted("127.0.0.1", port),
        path: path.to_owned(),
        query: String::new(),
    }
}

/// A server with the certificate in the folder. It answers one request.
async fn secure_backend() -> (TempDir, Target) {
    secure_backend_with(IsCa::NoCa).await
}

async fn secure_backend_with(is_ca: IsCa) -> (TempDir, Target) {
    let (folder, tls) = tls(is_ca);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // A client that does not trust the certificate closes the connection.
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(tls)).accept(stream).await else {
            return;
        };
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            received.push(byte);
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
        stream.write_all(answer).await.unwrap();
        stream.shutdown().await.unwrap();
    });
    (folder, target(port, "/logs"))
}

#[tokio::test]
async fn anything_is_trusted_without_an_authority() {
    let (_folder, target) = secure_backend().await;
    let answer = fetch(&target, &link()).await.unwrap();
    let text = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(&text[..], b"ok");
}

#[tokio::test]
async fn with_an_authority_only_its_own_are_trusted() {
    let (folder, target) = secure_backend().await;
    let (other, _) = secure_backend().await;
    let trusting = |folder: &TempDir| {
        let tls = client_tls(Some(&folder.path().join("ca.pem")), None).unwrap();
        Link::new(tls, Duration::from_secs(5), &Dialer::default())
    };
    let answer = fetch(&target, &trusting(&folder)).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let (_folder, target) = secure_backend().await;
    let error = fetch(&target, &trusting(&other)).await.unwrap_err();
    let expected = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn an_authority_may_be_its_own_server() {
    let authority = || secure_backend_with(IsCa::Ca(BasicConstraints::Unconstrained));
    let (folder, target) = authority().await;
    let pem = std::fs::read(folder.path().join("ca.pem")).unwrap();
    let link = Link::new(client_tls_by(&pem).unwrap(), Duration::from_secs(5), &Dialer::default());
    let answer = fetch(&target, &link).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let (folder, target) = authority().await;
    let pem = std::fs::read(folder.path().join("ca.pem")).unwrap();
    let link = Link::new(client_tls_by(&pem).unwrap(), Duration::from_secs(5), &Dialer::default());
    let error = fetch(&target, &link.expecting("example.com")).await.unwrap_err();
    let expected = "tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match \
                    example.com";
    assert_eq!(error.to_string(), expected);
}

/// A server that allows as many requests on one connection as Kubernetes' servers do. The answer at `/watch` does not
/// end. The counter has the number of its connections.
async fn shared_backend() -> (u16, Arc<AtomicUsize>) {
    let (_, mut tls) = tls(IsCa::NoCa);
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            let stream = TokioIo::new(acceptor.accept(stream).await.unwrap());
            let serve = service_fn(|request: Request<Incoming>| async move {
                let body = match request.uri().path() {
                    "/watch" => Body::from_stream(futures_util::stream::pending::<io::Result<Bytes>>()),
                    _ => Body::from("ok"),
                };
                Ok::<_, Infallible>(Response::new(body))
            });
            let mut server = http2::Builder::new(TokioExecutor::new());
            server.max_concurrent_streams(100);
            tokio::spawn(server.serve_connection(stream, serve));
        }
    });
    (port, connections)
}

#[tokio::test]
async fn watches_do_not_hold_up_other_requests() {
    let (port, connections) = shared_backend().await;
    let link = link().pooled();
    let (watch, list) = (target(port, "/watch"), target(port, "/list"));
    let mut watches = Vec::new();
    for _ in 0..100 {
        watches.push(fetch(&watch, &link).await.unwrap());
    }
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let read = async || {
        let answer = fetch(&list, &link).await.unwrap();
        answer.into_body().collect().await.unwrap().to_bytes()
    };
    let answer = tokio::time::timeout(Duration::from_secs(20), read()).await;
    assert_eq!(answer.expect("there is an answer"), "ok");
    assert_eq!(connections.load(Ordering::Relaxed), 2);
    // A place is free again when its answer is dropped.
    watches.pop();
    watches.push(fetch(&watch, &link).await.unwrap());
    assert_eq!(read().await, "ok");
    assert_eq!(connections.load(Ordering::Relaxed), 2);
}

/// The end of a connection of [`closing_backend`].
#[derive(Clone, Copy)]
enum Close {
    /// After the answer to its first request.
    AfterAnswer,
    /// After the second request, without an answer.
    AfterSecondRequest,
    /// After the first request, without an answer.
    AfterFirstRequest,
    Never,
}

/// A server whose connections end as `closes` says, in order; further ones never do. The receiver gets the first line of each
/// request, and an empty line when a connection has been closed.
async fn closing_backend(closes: &'static [Close]) -> (u16, mpsc::UnboundedReceiver<String>) {
    let (_, tls) = tls(IsCa::NoCa);
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, lines) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut closes = closes.iter().copied();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            let (close, sender) = (closes.next().unwrap_or(Close::Never), sender.clone());
            tokio::spawn(async move {
                for number in 1.. {
                    let mut received = Vec::new();
                    while !received.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = stream.read_u8().await else { return };
                        received.push(byte);
                    }
                    let received = String::from_utf8(received).unwrap();
                    let _ = sender.send(received.lines().next().unwrap().to_owned());
                    match (close, number) {
                        (Close::AfterFirstRequest, 1) | (Close::AfterSecondRequest, 2) => break,
                        _ => {}
                    }
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    stream.write_all(answer).await.unwrap();
                    stream.flush().await.unwrap();
                    if matches!(close, Close::AfterAnswer) {
                        break;
                    }
                }
                let _ = stream.shutdown().await;
                let _ = sender.send(String::new());
            });
        }
    });
    (port, lines)
}

/// The answers to a GET and then a request with `method`, and the first lines that the server received.
async fn two_requests(closes: &'static [Close], method: Method) -> (Result<StatusCode, String>, Vec<String>) {
    let (port, mut lines) = closing_backend(closes).await;
    let link = link().pooled_http1();
    let read = async |method: &Method, path: &str| {
        let answer = send(method, HeaderMap::new(), &target(port, path), &link).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let status = answer.status();
        answer.into_body().collect().await.map_err(|error| error.to_string())?;
        Ok(status)
    };
    assert_eq!(read(&Method::GET, "/one").await, Ok(StatusCode::OK));
    let mut received = vec![lines.recv().await.unwrap()];
    if matches!(closes[0], Close::AfterAnswer) {
        assert_eq!(lines.recv().await.unwrap(), "", "the connection is closed");
    }
    let answer = read(&method, "/two").await;
    while let Ok(line) = lines.try_recv() {
        received.push(line);
    }
    received.retain(|line| !line.is_empty());
    (answer, received)
}

#[tokio::test]
async fn requests_are_repeated_when_a_connection_was_closed_while_it_was_idle() {
    let [one, two] = ["one", "two"].map(|path| format!("GET /{path} HTTP/1.1"));
    let post = "POST /two HTTP/1.1".to_owned();
    for (closes, method, expected) in [
        (&[Close::AfterAnswer][..], Method::GET, (true, vec![&one, &two])),
        (&[Close::AfterAnswer], Method::POST, (true, vec![&one, &post])),
        (
            &[Close::AfterSecondRequest],
            Method::GET,
            (true, vec![&one, &two, &two]),
        ),
        // The server may have handled it.
        (&[Close::AfterSecondRequest], Method::POST, (false, vec![&one, &post])),
        // Once.
        (
            &[Close::AfterSecondRequest, Close::AfterFirstRequest],
            Method::GET,
            (false, vec![&one, &two, &two]),
        ),
    ] {
        let (answer, received) = two_requests(closes, method.clone()).await;
        let outcome = match &answer {
            Ok(status) => *status == StatusCode::OK,
            Err(why) => {
                assert_eq!(why, "EOF");
                false
            }
        };
        assert_eq!(
            (outcome, received.iter().collect::<Vec<_>>()),
            expected,
            "{method} {answer:?}"
        );
    }
}

#[tokio::test]
async fn requests_on_new_connections_are_not_repeated() {
    let (port, mut lines) = closing_backend(&[Close::AfterFirstRequest]).await;
    let error = fetch(&target(port, "/one"), &link().pooled_http1()).await.unwrap_err();
    assert_eq!(error.to_string(), "EOF");
    assert_eq!(lines.recv().await.unwrap(), "GET /one HTTP/1.1");
    assert_eq!(lines.recv().await.unwrap(), "");
    assert!(lines.try_recv().is_err());
}
