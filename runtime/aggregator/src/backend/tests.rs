use planesmith_access::user::UserInfo;
use planesmith_server::discovery::GroupDirectory;
use planesmith_server::openapi::OpenApi;
use planesmith_server::proxy::{Destination, Dialer};
use planesmith_server::shutdown::Stop;

use super::*;

fn target() -> Target {
    Target {
        secure: true,
        destination: Destination::of_object("10.0.0.1", 443),
        path: "/apis/shop.example.com/v1/orders".to_owned(),
        query: String::new(),
    }
}

/// Returns the headers that another server receives for a request by carol, who may only read, sent with these headers.
fn forwarded(sent: &[(&'static str, &'static str)]) -> HeaderMap {
    let (_stop, shutdown) = Stop::new();
    let mut ctx = Context::unknown(shutdown);
    ctx.user = Arc::new(UserInfo {
        name: "carol".to_owned(),
        groups: vec!["readers".to_owned()],
        extra: [("scopes".to_owned(), vec!["read".to_owned()])].into(),
        ..UserInfo::default()
    });
    let sent = sent
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let mut headers: HeaderMap = sent.collect();
    set_proxy_headers(&ctx, &target(), &mut headers);
    // As in forwarding, which removes the client connection's headers.
    leave_connection(&mut headers);
    headers
}

#[test]
fn paths_are_decoded_before_they_are_passed_on() {
    struct Fixed;
    impl Resolver for Fixed {
        fn resolve(&self, _: &ServicePort) -> Result<Destination, String> {
            Ok(target().destination)
        }
    }
    let remote = Remote {
        service: ServicePort {
            namespace: "default".to_owned(),
            name: "shop".to_owned(),
            port: 443,
        },
        trust: RemoteTrust::Anyone,
        is_available: true,
    };
    let config = AggregatorConfig {
        directory: GroupDirectory::default(),
        openapi: OpenApi::default(),
        resolver: Arc::new(Fixed),
        dialer: Dialer::default(),
        identity: None,
        rejects_redirects: false,
    };
    let backend = Backend::new(("shop.example.com", "v1"), &remote, &config);
    for (sent, path, query) in [
        (
            "/apis/shop.example.com/v1/orders/a%2Fb",
            "/apis/shop.example.com/v1/orders/a/b",
            "",
        ),
        ("/apis/%73hop/o%20%25?a=%62", "/apis/shop/o%20%25", "a=b"),
    ] {
        let target = backend.target_of(&sent.parse().unwrap()).unwrap();
        assert_eq!((&*target.path, &*target.query), (path, query), "{sent}");
    }
}

#[test]
fn clients_cannot_take_away_what_is_said_of_them() {
    let everything = "x-remote-extra-scopes, X-Remote-Group, x-remote-user, audit-id, host";
    for connection in [
        everything,
        "upgrade, x-remote-extra-scopes, x-remote-group, x-remote-user, audit-id",
    ] {
        let headers = forwarded(&[("connection", connection), ("upgrade", "SPDY/3.1")]);
        assert_eq!(headers["x-remote-user"], "carol");
        assert_eq!(headers["x-remote-group"], "readers");
        assert_eq!(headers["x-remote-extra-scopes"], "read");
        assert_eq!(headers[HOST], "10.0.0.1:443");
        assert!(headers.contains_key("audit-id"));
        assert_eq!(headers.contains_key("upgrade"), connection.starts_with("upgrade"));
    }
}

#[test]
fn requests_tell_that_they_were_forwarded() {
    let headers = forwarded(&[("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "http")]);
    assert_eq!(headers["x-forwarded-host"], "10.0.0.1:443");
    assert_eq!(headers["x-forwarded-proto"], "https");
    let headers = forwarded(&[("connection", "upgrade"), ("upgrade", "SPDY/3.1")]);
    assert!(!headers.contains_key("x-forwarded-host"));
}

#[tokio::test]
async fn a_backend_cannot_redirect_clients() {
    let answer = |status, place: Option<&'static str>| {
        let mut answer = plain_text(status, "moved");
        if let Some(place) = place {
            answer.headers_mut().insert(LOCATION, HeaderValue::from_static(place));
        }
        without_redirect(answer)
    };
    let refused = answer(StatusCode::FOUND, Some("https://evil.example/"));
    assert_eq!(refused.status(), StatusCode::BAD_GATEWAY);
    let headers: Vec<&str> = refused.headers().keys().map(HeaderName::as_str).collect();
    assert_eq!(headers, ["content-type"]);
    let body = axum::body::to_bytes(refused.into_body(), 1 << 10).await.unwrap();
    assert_eq!(
        body,
        "the backend attempted to redirect this request, which is not permitted"
    );
    for (status, place) in [
        (StatusCode::NOT_MODIFIED, None),
        (StatusCode::FOUND, Some("")),
        (StatusCode::CREATED, Some("/apis/shop.example.com/v1/orders/o")),
    ] {
        assert_eq!(answer(status, place).status(), status);
    }
}
