//! Headers that protect browsers, and connections that end.

use http::Version;
use http::header::{CONNECTION, STRICT_TRANSPORT_SECURITY};

use super::*;

async fn headers(config: Config, version: Version) -> HeaderMap {
    let server = prepared(config);
    let request = Request::get("/version")
        .version(version)
        .header("authorization", "Bearer bob");
    let request = request.body(Body::empty()).unwrap();
    let response = server.front().serve(request, Arc::new(Connection::default())).await;
    assert_eq!(response.status(), StatusCode::OK);
    response.headers().clone()
}

#[tokio::test]
async fn browsers_learn_to_use_tls_if_a_flag_says_so() {
    let plain = headers(config(AlwaysAllow), Version::HTTP_11).await;
    assert!(!plain.contains_key(STRICT_TRANSPORT_SECURITY));
    let mut strict = config(AlwaysAllow);
    strict.strict_transport = ["max-age=31536000", "includeSubDomains"].map(str::to_owned).into();
    let headers = headers(strict, Version::HTTP_11).await;
    assert_eq!(
        headers[STRICT_TRANSPORT_SECURITY],
        "max-age=31536000; includeSubDomains"
    );
}

#[tokio::test]
async fn connections_of_http_2_end_with_a_chance() {
    let with_chance = |chance| {
        let mut config = config(AlwaysAllow);
        config.goaway_chance = chance;
        config
    };
    let closes = async |chance, version| headers(with_chance(chance), version).await.contains_key(CONNECTION);
    assert!(closes(1.0, Version::HTTP_2).await);
    assert!(
        !closes(1.0, Version::HTTP_11).await,
        "HTTP/1.1 connections do not gather on one server"
    );
    assert!(!closes(0.0, Version::HTTP_2).await);
}
