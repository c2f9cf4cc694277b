use std::time::Duration;

use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::request::Context;
use crate::shutdown::Stop;

mod secure;
mod tunnels;

fn link() -> Link {
    Link::new(
        client_tls(None, None).unwrap(),
        Duration::from_secs(5),
        &Dialer::default(),
    )
}

fn request(method: Method, uri: &str) -> Parts {
    let request = Request::builder().method(method).uri(uri).header(HOST, "api.example");
    request.body(()).unwrap().into_parts().0
}

fn call(parts: Parts) -> Call {
    let (_, shutdown) = Stop::new();
    let ctx = Context {
        peer: Some("192.0.2.7".parse().unwrap()),
        ..Context::unknown(shutdown)
    };
    Call::new(ctx, parts)
}

/// A backend that answers one request with `answer`; its task returns the request.
async fn backend(answer: &'static str) -> (Target, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut received = Vec::new();
        while !received.ends_with(b"\r\n\r\n") {
            received.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(received).unwrap()
    });
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", port),
        path: "/x/y".to_owned(),
        query: "a=b".to_owned(),
    };
    (target, received)
}

#[test]
fn links_do_not_take_each_others_memory_for_pages() {
    let (one, other) = (link(), link());
    let limits = one.page_limits();
    let all = u32::try_from(limits.gathered.available_permits()).expect("few");
    let taken = limits.gathered.try_acquire_many(all).expect("free");
    assert_eq!(one.clone().page_limits().gathered.available_permits(), 0);
    assert!(other.page_limits().gathered.available_permits() > 0);
    drop(taken);
}

#[tokio::test]
async fn requests_go_on_and_links_come_back() {
    let (target, received) = backend(
        "HTTP/1.1 302 Found\r\nlocation: /login\r\naccess-control-allow-origin: *\r\nx-own: 1\r\ncontent-length: 2\r\n\r\nhi",
    )
    .await;
    let request = call(request(Method::GET, "/api/v1/namespaces/n/pods/p/proxy/x/y?a=b"));
    let response = forward(&request, Body::empty(), &target, &link()).await.unwrap();
    assert_eq!(response.status(), StatusCode::FOUND);
    assert_eq!(response.headers()[LOCATION], "/api/v1/namespaces/n/pods/p/proxy/login");
    assert_eq!(response.headers()["x-own"], "1");
    assert!(response.headers().get("access-control-allow-origin").is_none());
    assert_eq!(&response.into_body().collect().await.unwrap().to_bytes()[..], b"hi");
    let received = received.await.unwrap();
    assert!(received.starts_with("GET /x/y?a=b HTTP/1.1\r\n"), "{received}");
    assert!(received.contains("host: api.example\r\n"), "{received}");
    assert!(received.contains("x-forwarded-for: 192.0.2.7\r\n"), "{received}");
    assert!(
        received.contains("x-forwarded-uri: /api/v1/namespaces/n/pods/p/proxy/x/y\r\n"),
        "{received}"
    );
}

/// The remaining headers, sorted.
fn left(headers: &[(&'static str, &'static str)]) -> Vec<String> {
    let headers = headers
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let mut headers: HeaderMap = headers.collect();
    leave_connection(&mut headers);
    let left = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
    let mut left: Vec<String> = left.collect();
    left.sort();
    left
}

#[test]
fn connection_headers_are_not_forwarded() {
    let sent = [
        ("connection", "keep-alive, X-Own"),
        ("te", "trailers"),
        ("x-own", "1"),
        ("accept", "*/*"),
    ];
    assert_eq!(left(&sent), ["accept: */*", "te: trailers"]);
    let sent = [
        ("connection", "x-own, Upgrade"),
        ("upgrade", "SPDY/3.1"),
        ("x-own", "1"),
    ];
    assert_eq!(left(&sent), ["connection: Upgrade", "upgrade: SPDY/3.1"]);
}

#[tokio::test]
async fn links_in_pages_come_back() {
    let (target, received) = backend(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: 20\r\n\r\n<a href=\"/rewrite\">t",
    )
    .await;
    let request = call(request(Method::GET, "/api/v1/namespaces/n/pods/p/proxy/x/y"));
    let response = forward(&request, Body::empty(), &target, &link()).await.unwrap();
    received.await.unwrap();
    let page = response.into_body().collect().await.unwrap().to_bytes();
    let page = std::str::from_utf8(&page).unwrap();
    assert_eq!(page, r#"<a href="/api/v1/namespaces/n/pods/p/proxy/rewrite">t"#);
}

#[tokio::test]
async fn an_unreachable_backend_is_503_in_the_words_of_go() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", port),
        path: "/".to_owned(),
        query: String::new(),
    };
    let request = call(request(Method::GET, "/api/v1/nodes/n/proxy/"));
    let error = forward(&request, Body::empty(), &target, &link()).await.unwrap_err();
    let expected = format!("error trying to reach service: dial tcp 127.0.0.1:{port}: connect: connection refused");
    assert_eq!((error.code(), error.message()), (503, expected.as_str()));
    let error = tunnel(&request, &target, &link()).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (400, "Upgrade request required"));
}

#[tokio::test]
async fn the_root_without_a_slash_is_somewhere_else() {
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("127.0.0.1", 1),
        path: String::new(),
        query: String::new(),
    };
    let request = call(request(Method::GET, "/api/v1/nodes/n/proxy?q=1"));
    let response = forward(&request, Body::empty(), &target, &link()).await.unwrap();
    assert_eq!(response.status(), StatusCode::MOVED_PERMANENTLY);
    assert_eq!(response.headers()[LOCATION], "/api/v1/nodes/n/proxy/?q=1");
}

#[test]
fn links_to_others_stay() {
    let parts = request(Method::GET, "/p/proxy/x");
    let target = Target {
        secure: false,
        destination: Destination::unrestricted("10.0.0.1", 80),
        path: "/x".to_owned(),
        query: String::new(),
    };
    let rewriter = Rewriter::new(&parts, &target);
    let cases = [
        ("/y/?q=1", "/p/proxy/y/?q=1"),
        ("http://10.0.0.1/y", "/p/proxy/y"),
        ("http://10.0.0.1:80/y#z", "/p/proxy/y#z"),
        ("http://api.example/y", "http://api.example/p/proxy/y"),
        ("//api.example/y", "//api.example/p/proxy/y"),
        ("#z", "#z"),
        ("y", "y"),
        ("http://other/y", "http://other/y"),
        ("/p/proxy/y", "/p/proxy/y"),
    ];
    for (location, expected) in cases {
        assert_eq!(rewriter.rewrite(location, &target), expected);
    }
}

#[test]
fn targets_are_told_the_shortest_path() {
    let forwarded = |requested: &str, path: &str| {
        let target = Target {
            secure: false,
            destination: Destination::unrestricted("10.0.0.1", 80),
            path: path.to_owned(),
            query: String::new(),
        };
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-uri", HeaderValue::from_static("/forged"));
        Rewriter::new(&request(Method::GET, requested), &target).announce(&target, &mut headers);
        let told = headers
            .get("x-forwarded-uri")
            .map(|told| told.to_str().unwrap().to_owned());
        told.unwrap_or_default()
    };
    assert_eq!(forwarded("/p/a%3Ab/proxy/x//y/", "/x//y/"), "/p/a:b/proxy/x/y/");
    assert_eq!(forwarded("/p/proxy/a%20b", "/a%20b"), "/p/proxy/a%20b");
    assert_eq!(forwarded("/apis/a%2Fb", "/apis/a/b"), "/apis/a/b");
    assert_eq!(forwarded("/p/%0A/proxy/x", "/x"), "");
}

#[test]
fn the_rest_of_the_path_stays_encoded() {
    let rest = |uri: &str| rest_of_path(&request(Method::GET, uri));
    assert_eq!(rest("/api/v1/namespaces/n/pods/p/proxy/a%2Fb/"), "/a%2Fb/");
    assert_eq!(rest("/api/v1/nodes/n/proxy"), "");
    assert_eq!(rest("/api/v1/nodes/n/proxy?path=logs"), "");
    for name in ["proxy", "proxy%3Aweb", "proxy%C3%A4"] {
        let path = format!("/api/v1/namespaces/proxy/services/{name}/proxy/proxy/%2Fa");
        assert_eq!(rest(&path), "/proxy/%2Fa");
        assert_eq!(rest(&format!("/api/v1/namespaces/proxy/pods/{name}/proxy/")), "/");
    }
    assert_eq!(rest("/api/v1/nodes/proxy"), "");
}

#[tokio::test]
async fn a_destination_of_an_object_on_loopback_is_never_dialled() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost", "::ffff:127.0.0.1", "127.1"] {
        for secure in [false, true] {
            let target = Target {
                secure,
                destination: Destination::of_object(host, port),
                path: "/x".to_owned(),
                query: String::new(),
            };
            let call = call(request(Method::GET, "/api/v1/nodes/n/proxy/x"));
            let error = forward(&call, Body::empty(), &target, &link()).await.unwrap_err();
            assert_eq!((error.code(), error.message()), (400, "address not allowed"), "{host}");
            let error = fetch(&target, &link().pooled()).await.unwrap_err();
            assert_eq!(error.to_string(), "address not allowed", "{host}");
        }
    }
    assert!(listener.accept().now_or_never().is_none(), "the server dialled");
}
