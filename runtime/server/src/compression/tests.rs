use std::io::Read;

use axum::body::Body;
use axum::response::Response;
use flate2::read::GzDecoder;
use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, HeaderValue};
use http_body_util::BodyExt;

use super::{Compression, accepts_gzip};

#[test]
fn only_plain_gzip_is_an_offer() {
    let check = |header: &'static str, expected| {
        let headers: HeaderMap = [(ACCEPT_ENCODING, HeaderValue::from_static(header))]
            .into_iter()
            .collect();
        assert_eq!(accepts_gzip(&headers), expected, "{header}");
    };
    check("gzip", true);
    check("deflate, gzip , br", true);
    check("gzip;q=0.5", false);
    check("gzip;q=0", false);
    check("*", false);
    check("identity", false);
}

#[tokio::test]
async fn large_answers_come_back_as_they_were() {
    let text: String = (0..100_000)
        .map(|number| format!("{{\"name\":\"object-{number}\"}},"))
        .collect();
    let mut response = Response::new(Body::from(text.clone()));
    Compression::new().compress(&mut response);
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert_eq!(response.headers()["vary"], "Accept-Encoding");
    let packed = response.into_body().collect().await.unwrap().to_bytes();
    assert!(packed.len() < text.len() / 2);
    let mut unpacked = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut unpacked).unwrap();
    assert!(unpacked == text);
}

#[tokio::test]
async fn small_answers_stay_as_they_are() {
    let mut response = Response::new(Body::from("x".repeat(128 << 10)));
    Compression::new().compress(&mut response);
    assert!(response.headers().is_empty());
}

#[tokio::test]
async fn when_processors_are_busy_answers_stay_as_they_are() {
    let compression = Compression::new();
    let large = || Response::new(Body::from("x".repeat(1 << 20)));
    let mut busy = Vec::new();
    loop {
        let mut response = large();
        compression.compress(&mut response);
        if !response.headers().contains_key("content-encoding") {
            break;
        }
        busy.push(response);
    }
    drop(busy);
    let mut response = large();
    compression.compress(&mut response);
    assert!(response.headers().contains_key("content-encoding"));
}
