//! HTTP proxies: over TCP, over TLS in both directions, and at a socket.

use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::proxy::dialer::Stream;
use crate::proxy::{ClientIdentity, Link, OutboundRequest, Pem, Target, Trust, client_tls_to};

/// The head of a request.
async fn head(stream: &mut (impl Stream + ?Sized)) -> String {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

/// Answers CONNECT with `answer`, and echoes what follows. Returns the head of the request.
async fn proxy(mut stream: impl Stream, answer: &str) -> String {
    let request = head(&mut stream).await;
    stream.write_all(answer.as_bytes()).await.unwrap();
    if !answer.ends_with('\n') {
        return request;
    }
    let (mut reader, mut writer) = tokio::io::split(stream);
    // A client that is refused closes the connection.
    let _ = tokio::io::copy(&mut reader, &mut writer).await;
    let _ = writer.shutdown().await;
    request
}

/// A proxy over TCP for one connection.
async fn tcp_proxy(answer: &'static str) -> (Destination, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        proxy(stream, answer).await
    });
    (Destination::unrestricted("127.0.0.1", port), served)
}

const OPENED: &str = "HTTP/1.1 200 OK\r\n\r\n";
const REQUEST: &str = "CONNECT node.invalid:10250 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

#[tokio::test]
async fn data_passes_in_both_directions() {
    let (destination, served) = tcp_proxy(OPENED).await;
    let through = ThroughProxy::new(ProxyServer::Http(destination));
    echo_much(through.dial().await.unwrap()).await;
    assert_eq!(served.await.unwrap(), REQUEST);
    let labels = r#"{protocol="http_connect",transport="tcp"}"#;
    assert_eq!(
        through.series(),
        [
            format!("dial_duration_seconds_count{labels} 1"),
            format!("dial_start_total{labels} 1")
        ]
    );
}

#[tokio::test]
async fn one_direction_ends_before_the_other() {
    let (destination, _served) = tcp_proxy(OPENED).await;
    let through = ThroughProxy::new(ProxyServer::Http(destination));
    let mut stream = through.dial().await.unwrap();
    stream.write_all(b"last words").await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answered = String::new();
    stream.read_to_string(&mut answered).await.unwrap();
    assert_eq!(answered, "last words");
}

#[tokio::test]
async fn requests_of_links_pass_through_a_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("proxy.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let connect = head(&mut stream).await;
        stream.write_all(OPENED.as_bytes()).await.unwrap();
        let request = head(&mut stream).await;
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
            .await
            .unwrap();
        (connect, request)
    });
    let through = ThroughProxy::new(ProxyServer::HttpSocket(socket));
    let link = Link::new(client_tls(None, None).unwrap(), LIMIT, &through.dialer);
    let target = Target {
        secure: false,
        destination: Destination::of_object("node.invalid", 10250),
        path: "/healthz".to_owned(),
        query: String::new(),
    };
    let answer = OutboundRequest::get(http::HeaderMap::new())
        .send(&target, &link, LIMIT)
        .await;
    assert_eq!(answer.unwrap().body, "ok");
    let (connect, request) = served.await.unwrap();
    assert_eq!(connect, REQUEST);
    assert!(
        request.starts_with("GET /healthz HTTP/1.1\r\nhost: node.invalid:10250\r\n"),
        "{request}"
    );
}

#[tokio::test]
async fn refusals_are_reported_as_by_kube_apiserver() {
    for (answer, expected) in [
        (
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
            "proxy error from PROXY while dialing node.invalid:10250, code 503: 503 Service Unavailable",
        ),
        (
            "HTTP/1.1 200 OK\r\n\r\nhello",
            "unexpected 5 bytes of buffered data from CONNECT proxy \"PROXY\"",
        ),
        (
            "HTTP/1.1 429 Later\r\n\r\n",
            "proxy error from PROXY while dialing node.invalid:10250, code 429: 429 Later",
        ),
        (
            "HTTP/1.1 2",
            "reading HTTP response from CONNECT to node.invalid:10250 via proxy PROXY failed: unexpected EOF",
        ),
        (
            "220 smtp\r\n\r\n",
            "reading HTTP response from CONNECT to node.invalid:10250 via proxy PROXY failed: malformed HTTP response",
        ),
    ] {
        let (destination, _served) = tcp_proxy(answer).await;
        let expected = expected.replace("PROXY", &destination.authority());
        let through = ThroughProxy::new(ProxyServer::Http(destination));
        assert_eq!(through.refusal().await, expected);
        let labels = r#"protocol="http_connect",stage="proxy",transport="tcp""#;
        assert_eq!(through.series()[0], format!("dial_failure_count{{{labels}}} 1"));
    }
}

#[tokio::test]
async fn connections_that_break_off_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let destination = Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port());
    let proxy = destination.authority();
    let through = ThroughProxy::new(ProxyServer::Http(destination));
    // One answer ends early, and another never does.
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200").await.unwrap();
        drop(stream);
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        while stream.write_all(&[b'a'; 4096]).await.is_ok() {}
    });
    let failed = format!("reading HTTP response from CONNECT to node.invalid:10250 via proxy {proxy} failed: ");
    assert_eq!(through.refusal().await, format!("{failed}unexpected EOF"));
    assert_eq!(through.refusal().await, format!("{failed}malformed HTTP response"));
    served.await.unwrap();
}

#[tokio::test]
async fn proxies_that_cannot_be_reached_are_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let destination = Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port());
    drop(listener);
    let expected = format!("dial tcp {}: connect: connection refused", destination.authority());
    let through = ThroughProxy::new(ProxyServer::Http(destination));
    assert_eq!(through.refusal().await, expected);
    let labels = r#"protocol="http_connect",stage="connect",transport="tcp""#;
    assert_eq!(through.series()[0], format!("dial_failure_count{{{labels}}} 1"));

    let through = ThroughProxy::new(ProxyServer::HttpSocket("/nonexistent/proxy.sock".into()));
    assert_eq!(
        through.refusal().await,
        "dial unix /nonexistent/proxy.sock: connect: no such file or directory"
    );
}

#[tokio::test]
async fn silent_proxies_are_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let destination = Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port());
    let through = ThroughProxy::new(ProxyServer::Http(destination));
    let error = through
        .dial_within(Duration::from_millis(50))
        .await
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, LinkError::Late), "{error}");
}

/// A certificate that signs itself, and its key.
fn certificate(name: &str) -> (rcgen::Certificate, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap();
    (certificate, key)
}

/// A proxy for one connection, whose certificate is for `proxy.example` and that requires a certificate of its clients. Returns it
/// with the certificate that it presents.
async fn tls_proxy(client: &rcgen::Certificate) -> (Destination, rcgen::Certificate) {
    let (own, key) = certificate("proxy.example");
    let mut clients = RootCertStore::empty();
    clients.add(client.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(clients), Arc::clone(&provider));
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![own.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let destination = Destination::unrestricted("127.0.0.1", listener.local_addr().unwrap().port());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        // A client that does not trust the certificate closes the connection.
        if let Ok(stream) = TlsAcceptor::from(Arc::new(tls)).accept(stream).await {
            proxy(stream, OPENED).await;
        }
    });
    (destination, own)
}

#[tokio::test]
async fn proxies_and_clients_present_certificates() {
    let (own, key) = certificate("planesmith");
    let identity = ClientIdentity {
        certificate: Pem::Text(own.pem().into_bytes()),
        key: Pem::Text(key.serialize_pem().into_bytes()),
    };
    let (destination, presented) = tls_proxy(&own).await;
    let tls = client_tls_to(Trust::Bundle(presented.pem().as_bytes()), Some(&identity)).unwrap();
    let through = ThroughProxy::new(ProxyServer::Https {
        destination,
        tls: Arc::clone(&tls),
        name: Some("proxy.example".to_owned()),
    });
    echo_much(through.dial().await.unwrap()).await;

    let (destination, presented) = tls_proxy(&own).await;
    let tls = client_tls_to(Trust::Bundle(presented.pem().as_bytes()), Some(&identity)).unwrap();
    let through = ThroughProxy::new(ProxyServer::Https {
        destination,
        tls,
        name: None,
    });
    let refusal = through.refusal().await;
    assert!(
        refusal.starts_with("tls: failed to verify certificate: x509: "),
        "{refusal}"
    );
}
