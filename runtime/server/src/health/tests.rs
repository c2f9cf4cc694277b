use std::sync::Arc;

use axum::body::Body;
use http::Request;
use http_body_util::BodyExt;
use tower::ServiceExt;

use super::{Endpoint, HealthCheck};

async fn check(path: &str, expected: &str) {
    let checks = vec![
        HealthCheck::new("ping", || Ok(())),
        HealthCheck::new("store", || Err("the disk is gone".to_owned())),
        HealthCheck::waiting("slow", || async { Ok(()) }),
    ];
    let endpoint = Endpoint::new("livez", checks.into_iter().map(Arc::new).collect(), Arc::default());
    let request = Request::get(path).body(Body::empty()).unwrap();
    let response = endpoint.router().oneshot(request).await.unwrap();
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(format!("{code} {}", String::from_utf8_lossy(&body)), expected, "{path}");
}

#[tokio::test]
async fn a_failure_is_always_told_in_full_but_without_the_reason() {
    let failed = "500 [+]ping ok\n[-]store failed: reason withheld\n[+]slow ok\nlivez check failed\n";
    check("/livez", failed).await;
    check("/livez?verbose", failed).await;
}

#[tokio::test]
async fn a_reason_that_is_fit_for_everyone_is_told_to_who_wants_details() {
    let alarm = HealthCheck::new("storage-alarms", || Err("no-space: the disk is full".to_owned()));
    let checks = vec![Arc::new(alarm.with_public_reason())];
    let endpoint = Endpoint::new("readyz", checks, Arc::default());
    for (path, reason) in [
        ("/readyz", "reason withheld"),
        ("/readyz?verbose", "no-space: the disk is full"),
    ] {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = endpoint.router().oneshot(request).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = format!("[-]storage-alarms failed: {reason}\nreadyz check failed\n");
        assert_eq!(String::from_utf8_lossy(&body), expected, "{path}");
    }
}

#[tokio::test]
async fn excluded_checks_do_not_count() {
    check("/livez?exclude=store", "200 ok").await;
    check(
        "/livez?exclude=store&verbose&exclude=nope&exclude=a%20b",
        "200 [+]ping ok\n[+]store excluded: ok\n[+]slow ok\n\
         warn: some health checks cannot be excluded: no matches for \"a b\", \"nope\"\nlivez check passed\n",
    )
    .await;
}

#[tokio::test]
async fn single_checks_tell_the_reason() {
    check("/livez/ping", "200 ok").await;
    check("/livez/ping?verbose", "200 ok").await;
    check("/livez/slow", "200 ok").await;
    check("/livez/store", "500 internal server error: the disk is gone\n").await;
}
