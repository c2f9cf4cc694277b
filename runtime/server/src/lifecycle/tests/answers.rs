//! Answers of a chain without a socket.

use futures_util::FutureExt;
use http::HeaderValue;

use planesmith_machinery::status::ApiError;

use super::*;
use crate::filters::{AddedFilter, Exchange, Filter, FilterPlace, Step};

/// Compares code and body, for a privileged user.
async fn check(request: &str, expected: &str) {
    let mut server = prepared(config(AlwaysAllow));
    server.set_installed();
    let (code, _, body) = send(&server, request, "root").await;
    assert_eq!(format!("{} {body}", code.as_u16()), expected, "{request}");
}

const NOT_FOUND: &str = concat!(
    r#"404 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
    r#""message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404}"#,
    "\n"
);
const NO_PAGE: &str = "404 404 page not found\n";
const OTHER_METHOD: &str = concat!(
    r#"405 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","#,
    r#""message":"the server does not allow this method on the requested resource","#,
    r#""reason":"MethodNotAllowed","details":{},"code":405}"#,
    "\n"
);

#[tokio::test]
async fn requests_reach_the_handler_with_what_they_ask() {
    check("GET /api/v1/namespaces/n/echoes/a", "200 get echoes a").await;
    check("GET /api/v1/namespaces/n/echoes/a/", "200 get echoes a").await;
    check("GET /api/v1/namespaces/n/echoes/?limit=1", "200 list echoes").await;
    check("GET /api/v1/echoes?watch=1", "200 watch echoes").await;
    check("GET /api/v1/watch/namespaces/n/echoes", "200 watch echoes").await;
    check("POST /api/v1/namespaces/n/echoes", "200 create echoes").await;
    check("PUT /api/v1/namespaces/n/echoes/a/status", "200 update echoes a status").await;
    check("DELETE /apis/apps/v1/things", "200 deletecollection things").await;
    check(
        "GET /apis/custom.example.com/v1/namespaces/n/widgets/w",
        "200 get widgets w",
    )
    .await;
    check(
        "GET /apis/apps/v1/things?fieldSelector=metadata.name%3Dx",
        "200 list things x",
    )
    .await;
    check("GET /apis/apps/v1/things/system%3Ax", "200 get things system:x").await;
}

#[tokio::test]
async fn encoded_paths_are_those_of_their_characters() {
    check("GET /livez/pin%67", "200 ok").await;
    check("GET /%61pi/v1/namespaces/n/echoes/a", "200 get echoes a").await;
}

#[tokio::test]
async fn an_unknown_path_of_a_served_group_is_a_status() {
    check("GET /api/v1/nope", NOT_FOUND).await;
    check("GET /api/v2", NOT_FOUND).await;
    check("GET /api//v1", NOT_FOUND).await;
    check("GET /apis/apps/v9", NOT_FOUND).await;
    check("GET /version/x", NOT_FOUND).await;
    check("GET /apis/apps/v9/things", NOT_FOUND).await;
    check("GET /api/v1/namespaces/n/echoes/a/nope", NOT_FOUND).await;
    check("GET /api/v1/namespaces/n/echoes/a/status/more", NOT_FOUND).await;
    check("GET /apis/apps/v1/namespaces/n/things", NOT_FOUND).await;
    check("GET /api/v1/echoes/a", NOT_FOUND).await;
    check("GET /api/v1/reviews/a", NOT_FOUND).await;
}

#[tokio::test]
async fn a_path_of_no_group_is_a_plain_page() {
    check("GET /no/such/path", NO_PAGE).await;
    check("GET /apis/nope.example.com", NO_PAGE).await;
    check("POST /apis/nope.example.com/v1/things", NO_PAGE).await;
    check("GET /apis/custom.example.com/v9", NO_PAGE).await;
    check("GET /apis/custom.example.com/v1/nothings", NO_PAGE).await;
    check("GET //api", NO_PAGE).await;
    check("GET /API", NO_PAGE).await;
    check("GET /healthz/", NO_PAGE).await;
    check("GET /livez/ping/more", NO_PAGE).await;
}

#[tokio::test]
async fn paths_without_the_method_are_405() {
    check("HEAD /api/v1/namespaces/n/echoes/a", "405 ").await;
    check("OPTIONS /api/v1/namespaces/n/echoes", OTHER_METHOD).await;
    check("FROB /api/v1/namespaces/n/echoes", OTHER_METHOD).await;
    check("POST /api/v1/namespaces/n/echoes/a", OTHER_METHOD).await;
    check("PUT /api/v1/namespaces/n/echoes", OTHER_METHOD).await;
    check("POST /api/v1/echoes", OTHER_METHOD).await;
    check("GET /api/v1/reviews", OTHER_METHOD).await;
    check("DELETE /api/v1/namespaces/n/echoes/a/status", OTHER_METHOD).await;
    check("POST /version", OTHER_METHOD).await;
}

#[tokio::test]
async fn delegates_show_their_paths_at_the_outside() {
    check("GET /from/extensions", "200 here").await;
    let mut server = prepared(config(AlwaysAllow));
    server.set_installed();
    let (_, _, body) = send(&server, "GET /", "root").await;
    assert!(
        body.contains("\"/from/extensions\"") && body.contains("\"/readyz/shutdown\""),
        "{body}"
    );
}

#[tokio::test]
async fn a_missing_path_is_503_until_all_are_installed() {
    let server = prepared(config(AlwaysAllow));
    let (code, headers, body) = send(&server, "GET /apis/nope.example.com", "root").await;
    assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(headers["retry-after"], "5");
    assert!(
        body.contains("before all known HTTP paths have been installed, please retry"),
        "{body}"
    );
    let (code, _, _) = send(&server, "GET /api/v1/echoes", "root").await;
    assert_eq!(code, StatusCode::OK);
}

#[tokio::test]
async fn every_answer_carries_the_headers_of_the_filters() {
    let server = prepared(config(AlwaysAllow));
    let (_, headers, _) = send(&server, "GET /api/v1/namespaces/n/echoes/warns", "root").await;
    assert_eq!(headers["cache-control"], "no-cache, private");
    assert_eq!(headers["audit-id"].len(), 36);
    assert_eq!(
        headers["warning"].as_bytes(),
        "299 - \"beware of \\\"échoes\\\"\"".as_bytes()
    );
}

#[tokio::test]
async fn strangers_get_401_and_403() {
    let server = prepared(config(AlwaysDeny));
    let (code, _, body) = send(&server, "GET /version", "wrong").await;
    assert_eq!(code, StatusCode::UNAUTHORIZED);
    assert!(!body.contains("details"), "{body}");
    let (code, headers, body) = send(&server, "GET /api/v1/namespaces/n/echoes/a/status", "bob").await;
    assert_eq!(
        (code, &headers["x-content-type-options"]),
        (StatusCode::FORBIDDEN, &"nosniff".parse().unwrap())
    );
    let message = concat!(
        r#""message":"echoes \"a\" is forbidden: User \"bob\" cannot get resource \"echoes/status\" "#,
        r#"in API group \"\" in the namespace \"n\": Everything is forbidden.""#
    );
    assert!(body.contains(message), "{body}");
    assert!(body.contains(r#""details":{"name":"a","kind":"echoes"}"#), "{body}");
    let (_, _, body) = send(&server, "FROB /x", "").await;
    assert!(
        body.contains(r#""forbidden: User \"system:anonymous\" cannot frob path \"/x\": Everything"#),
        "{body}"
    );
}

#[tokio::test]
async fn an_answer_to_head_has_the_length_of_its_body_only() {
    let server = prepared(config(AlwaysDeny));
    let (_, _, refusal) = send(&server, "GET /api/v1/namespaces/n/echoes/a", "bob").await;
    let (code, headers, body) = send(&server, "HEAD /api/v1/namespaces/n/echoes/a", "bob").await;
    assert_eq!((code, body.as_str()), (StatusCode::FORBIDDEN, ""));
    assert_eq!(headers["content-length"], refusal.len().to_string());
}

#[tokio::test]
async fn only_the_length_of_the_empty_body_of_a_304_is_removed() {
    let unchanged = |headers: &'static [(&'static str, &'static str)]| {
        get(move || async move {
            let mut response: Response = Response::default();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            for (name, value) in headers {
                response.headers_mut().insert(*name, HeaderValue::from_static(value));
            }
            response
        })
    };
    let chain = chain()
        .with_path("/copy", unchanged(&[("content-length", "7")]))
        .with_path("/plain", unchanged(&[]));
    let mut server = config(AlwaysAllow).complete().unwrap().prepare(chain).unwrap();
    server.set_installed();
    for (path, expected) in [("/copy", Some("7")), ("/plain", None)] {
        let (code, headers, _) = send(&server, &format!("GET {path}"), "root").await;
        let length = headers.get("content-length").map(|length| length.to_str().unwrap());
        assert_eq!((code, length), (StatusCode::NOT_MODIFIED, expected), "{path}");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_status() {
    let server = prepared(config(AlwaysAllow));
    let (code, headers, body) = send(&server, "GET /api/v1/namespaces/n/echoes/panics", "root").await;
    assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(
        body.contains(r#""reason":"InternalError""#) && headers.contains_key("audit-id"),
        "{body}"
    );
}

#[tokio::test]
async fn a_late_answer_is_a_504_status() {
    let server = prepared(config(AlwaysAllow));
    let (code, _, body) = send(&server, "GET /api/v1/namespaces/n/echoes/waits?timeout=5ms", "root").await;
    assert_eq!(code, StatusCode::GATEWAY_TIMEOUT);
    assert!(
        body.contains("Timeout: request did not complete within the allotted timeout"),
        "{body}"
    );
    let (code, _, body) = send(&server, "GET /api/v1/namespaces/n/echoes/a?timeout=5x", "root").await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
    assert!(body.contains(r#"unknown unit \"x\" in duration \"5x\""#), "{body}");
}

#[tokio::test]
async fn too_many_requests_at_once_are_429() {
    let mut config = config(AlwaysAllow);
    config.in_flight = InFlightLimits { reading: 1, writing: 1 };
    let server = prepared(config);
    let waiting = send(&server, "GET /api/v1/namespaces/n/echoes/waits", "bob");
    let mut waiting = Box::pin(waiting);
    assert!(waiting.as_mut().now_or_never().is_none());
    let (code, headers, body) = send(&server, "GET /api/v1/namespaces/n/echoes/a", "bob").await;
    assert_eq!(
        (code, body.as_str()),
        (
            StatusCode::TOO_MANY_REQUESTS,
            "Too many requests, please try again later.\n"
        )
    );
    assert_eq!(headers["retry-after"], "1");
    for served in ["PUT /api/v1/namespaces/n/echoes/a", "GET /api/v1/echoes?watch=1"] {
        assert_eq!(send(&server, served, "bob").await.0, StatusCode::OK, "{served}");
    }
    assert_eq!(send(&server, "GET /api/v1/echoes", "root").await.0, StatusCode::OK);
    drop(waiting);
    assert_eq!(send(&server, "GET /api/v1/echoes", "bob").await.0, StatusCode::OK);
}

#[tokio::test]
async fn malformed_escapes_are_refused() {
    check("GET /api/v1/%zz", "400 400 Bad Request").await;
    check("GET /api/v1/%2", "400 400 Bad Request").await;
    let server = prepared(config(AlwaysAllow));
    let (_, headers, _) = send(&server, "GET /api/v1/%zz", "bob").await;
    assert_eq!(headers.get("x-content-type-options"), None);
}

#[test]
fn filters_run_in_the_recorded_order() {
    let mut config = config(AlwaysAllow);
    config.cors_allowed_origins = vec!["^https://ui[.]example[.]com$".to_owned()];
    config.strict_transport = vec!["max-age=31536000".to_owned()];
    (config.shutdown_retry_after, config.refuse_until_ready) = (true, true);
    let names = config.complete().unwrap().filter_names();
    let recorded = "request-id access-log slow-requests count sending panic-guard request-info turn-away warnings cors \
                    strict-transport cache-control deadline authentication not-ready impersonation in-flight authorization \
                    compression";
    assert_eq!(names.join(" "), recorded);
}

/// A filter of a program: it answers the requests of one user.
#[derive(Debug)]
struct ClosedToBob;

impl Filter for ClosedToBob {
    fn name(&self) -> &'static str {
        "closed-to-bob"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        match exchange.ctx.user.name.as_str() {
            "bob" => exchange.refuse(&ApiError::bad_request("come back tomorrow")),
            _ => Step::Continue,
        }
    }
}

#[tokio::test]
async fn a_filter_of_a_program_runs_in_its_place() {
    let added = |place| AddedFilter {
        filter: Arc::new(ClosedToBob),
        place,
    };
    let mut with_all = config(AlwaysAllow);
    with_all.added_filters = vec![
        added(FilterPlace::Authorized),
        added(FilterPlace::Authenticated),
        added(FilterPlace::Parsed),
        added(FilterPlace::Arrived),
    ];
    let names = with_all.complete().unwrap().filter_names().join(" ");
    for place in [
        "panic-guard closed-to-bob request-info",
        "deadline closed-to-bob authentication",
        "impersonation closed-to-bob in-flight",
        "compression closed-to-bob",
    ] {
        assert!(names.contains(place), "{place}: {names}");
    }

    let mut config = config(AlwaysAllow);
    config.added_filters = vec![added(FilterPlace::Authenticated)];
    let mut server = prepared(config);
    server.set_installed();
    let (code, _, body) = send(&server, "GET /api/v1/echoes", "bob").await;
    assert_eq!(code, StatusCode::BAD_REQUEST);
    assert!(body.contains("come back tomorrow"), "{body}");
    assert_eq!(send(&server, "GET /api/v1/echoes", "root").await.0, StatusCode::OK);
}

#[tokio::test]
async fn pages_of_allowed_origins_may_ask() {
    let mut config = config(AlwaysAllow);
    config.cors_allowed_origins = vec!["^https://ui[.]example[.]com$".to_owned()];
    let server = prepared(config);
    let front = server.front();
    let preflight = |origin: &'static str| {
        let request = Request::builder()
            .method(Method::OPTIONS)
            .uri("/api/v1/echoes")
            .header("origin", origin);
        front.serve(request.body(Body::empty()).unwrap(), Arc::new(Connection::default()))
    };
    let allowed = preflight("https://ui.example.com").await;
    assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
    assert_eq!(
        allowed.headers()["access-control-allow-origin"],
        "https://ui.example.com"
    );
    let other = preflight("https://evil.example.com").await;
    assert_eq!(other.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert!(!other.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_504_status() {
    let server = prepared(config(AlwaysAllow));
    let stalled = futures_util::stream::pending::<Result<&'static str, std::io::Error>>();
    let request =
        Request::put("/api/v1/namespaces/n/echoes/reads-body?timeout=5ms").header("authorization", "Bearer root");
    let request = request.body(Body::from_stream(stalled)).unwrap();
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn version_names_what_clients_look_for() {
    let server = prepared(config(AlwaysAllow));
    let (_, _, body) = send(&server, "GET /version", "root").await;
    for line in [
        "\"major\": \"1\"",
        "\"minor\": \"36\"",
        "\"minCompatibilityMinor\": \"35\"",
        "\"gitVersion\": \"v1.36.0+",
    ] {
        assert!(body.contains(line), "{body}");
    }
}

#[tokio::test]
async fn an_answer_of_unknown_size_is_measured() {
    let server = prepared(config(AlwaysAllow));
    let (_, _, body) = send(&server, "GET /api/v1/namespaces/n/echoes/pieces", "root").await;
    assert_eq!(body.len(), LARGE);
    let (_, _, metrics) = send(&server, "GET /metrics", "root").await;
    let sizes = metrics
        .lines()
        .filter(|line| line.starts_with("apiserver_response_sizes_sum"));
    let sizes: Vec<_> = sizes.collect();
    assert!(
        sizes.iter().any(|line| line.ends_with(&format!(" {LARGE}"))),
        "{sizes:?}"
    );
}
