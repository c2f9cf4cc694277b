use std::io::Read;

use axum::body::Body;
use axum::response::Response;
use flate2::read::GzDecoder;
use futures_util::FutureExt as _;
use http::header::{ACCEPT_ENCODING, HeaderValue, VARY};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;

use super::{Compression, ENCODER, THRESHOLD, accepts_gzip};
use crate::sending::RetainedMemory;

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
    *response.status_mut() = StatusCode::CREATED;
    response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
    Compression::new().compress(&mut response);
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let vary: Vec<_> = response.headers().get_all(VARY).iter().collect();
    assert_eq!(vary, ["Accept", "Accept-Encoding"]);
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

fn answer(compression: &Compression) -> Response {
    answer_of(compression, vec![b'x'; 1 << 20])
}

/// An answer in one piece, compressed if a processor is free.
fn answer_of(compression: &Compression, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    compression.compress(&mut response);
    response
}

fn is_compressed(response: &Response) -> bool {
    response.headers().contains_key("content-encoding")
}

#[test]
fn when_processors_are_busy_answers_stay_as_they_are() {
    let compression = Compression::new();
    let mut busy = Vec::new();
    loop {
        let mut response = answer(&compression);
        if !is_compressed(&response) {
            break;
        }
        // A slice is compressed, and no chunk is complete yet.
        assert!(response.body_mut().frame().now_or_never().is_none());
        busy.push(response);
    }
    drop(busy);
    assert!(is_compressed(&answer(&compression)));
}

#[tokio::test]
async fn answers_that_nobody_reads_keep_no_processor() {
    let compression = Compression::new();
    let mut random = fastrand::Rng::with_seed(1);
    let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(THRESHOLD + 1).collect();
    let mut unread = Vec::new();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..=processors {
        let mut response = answer_of(&compression, bytes.clone());
        assert!(is_compressed(&response));
        let first = response
            .body_mut()
            .frame()
            .await
            .expect("a chunk")
            .expect("it does not fail");
        assert!(first.data_ref().is_some_and(|chunk| chunk.len() >= 32 << 10));
        unread.push(response);
    }
}

#[test]
fn the_memory_of_a_compressed_answer_is_known() {
    let response = answer(&Compression::new());
    let pinned = response.extensions().get::<RetainedMemory>().expect("it says so");
    assert_eq!(pinned.own, (1 << 20) + ENCODER);
}
