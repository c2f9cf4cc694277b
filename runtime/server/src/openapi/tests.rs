use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use planesmith_machinery::environment::Environment;
use serde_json::Value;
use tower::ServiceExt;

use super::{OpenApi, router};

async fn get(openapi: &OpenApi, path: &str, headers: &[(&str, &str)]) -> (StatusCode, HeaderMap, Bytes) {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router(openapi.clone())
        .oneshot(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    let (head, body) = response.into_parts();
    (head.status, head.headers, body.collect().await.unwrap().to_bytes())
}

fn openapi() -> OpenApi {
    let v3 = [("api/v1", &b"{\"openapi\":\"3.0.0\"}"[..])];
    let openapi = OpenApi::new([], v3, Environment::defaults());
    let v2 = format!(r#"{{"swagger":"2.0","filler":"{}"}}"#, "x".repeat(2_000));
    openapi.adopt_v2("api/v1", v2);
    openapi
}

#[tokio::test]
async fn the_index_leads_to_documents_by_hash() {
    let openapi = openapi();
    let (_, headers, body) = get(&openapi, "/openapi/v3", &[]).await;
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    let index: Value = serde_json::from_slice(&body).unwrap();
    let place = index["paths"]["api/v1"]["serverRelativeURL"].as_str().unwrap();
    let (code, headers, body) = get(&openapi, place, &[]).await;
    assert_eq!((code, &body[..]), (StatusCode::OK, &b"{\"openapi\":\"3.0.0\"}"[..]));
    assert_eq!(
        (
            headers["cache-control"].to_str().unwrap(),
            headers["vary"].to_str().unwrap()
        ),
        ("public, immutable", "Accept")
    );
    let (code, headers, body) = get(&openapi, "/openapi/v3/api/v1?hash=AB", &[]).await;
    assert_eq!(
        (code, headers["location"].to_str().unwrap(), body.len()),
        (StatusCode::MOVED_PERMANENTLY, place, 0)
    );
}

#[tokio::test]
async fn a_copy_is_told_by_its_tag_or_date() {
    let openapi = openapi();
    for path in ["/openapi/v2", "/openapi/v3/api/v1"] {
        let (_, headers, _) = get(&openapi, path, &[]).await;
        let tag = headers["etag"].to_str().unwrap();
        for known in [
            tag.to_owned(),
            format!("W/{tag}"),
            format!("\"other\", {tag}"),
            "*".to_owned(),
        ] {
            let (code, headers, body) = get(&openapi, path, &[("if-none-match", &known)]).await;
            assert_eq!((code, body.len()), (StatusCode::NOT_MODIFIED, 0), "{path} {known}");
            assert!(
                headers["etag"] == tag && !headers.contains_key("last-modified"),
                "{headers:?}"
            );
        }
        assert_eq!(
            get(&openapi, path, &[("if-none-match", "\"other\"")]).await.0,
            StatusCode::OK
        );
    }
    let (_, headers, _) = get(&openapi, "/openapi/v2", &[]).await;
    let date = headers["last-modified"].to_str().unwrap();
    assert_eq!(
        get(&openapi, "/openapi/v2", &[("if-modified-since", date)]).await.0,
        StatusCode::NOT_MODIFIED
    );
}

#[tokio::test]
async fn the_index_has_a_date_and_no_tag() {
    let (_, headers, _) = get(&openapi(), "/openapi/v3", &[]).await;
    assert!(headers.contains_key("last-modified") && !headers.contains_key("etag"));
}

#[tokio::test]
async fn documents_are_sent_in_parts() {
    let openapi = openapi();
    for path in ["/openapi/v2", "/openapi/v3/api/v1"] {
        let (_, headers, whole) = get(&openapi, path, &[]).await;
        assert_eq!(headers["accept-ranges"], "bytes");
        let (code, headers, part) = get(&openapi, path, &[("range", "bytes=2-4")]).await;
        assert_eq!((code, &part[..]), (StatusCode::PARTIAL_CONTENT, &whole[2..5]));
        assert_eq!(headers["content-range"], format!("bytes 2-4/{}", whole.len()));
        let (code, headers, parts) = get(&openapi, path, &[("range", "bytes=2-4,7-7")]).await;
        assert_eq!(code, StatusCode::PARTIAL_CONTENT);
        let media_type = headers["content-type"].to_str().unwrap();
        let boundary = media_type.strip_prefix("multipart/byteranges; boundary=").unwrap();
        let part = |place: &str, bytes: &[u8]| {
            let head = format!(
                "--{boundary}\r\nContent-Range: bytes {place}/{}\r\nContent-Type: application/json",
                whole.len()
            );
            format!("{head}\r\n\r\n{}\r\n", str::from_utf8(bytes).unwrap())
        };
        let expected = format!(
            "{}{}--{boundary}--\r\n",
            part("2-4", &whole[2..5]),
            part("7-7", &whole[7..8])
        );
        assert_eq!(str::from_utf8(&parts).unwrap(), expected);
        let (code, headers, why) = get(&openapi, path, &[("range", "bytes=90000-")]).await;
        assert_eq!(code, StatusCode::RANGE_NOT_SATISFIABLE);
        assert_eq!(headers["content-range"], format!("bytes */{}", whole.len()));
        assert_eq!(&why[..], b"invalid range: failed to overlap\n");
        let (code, headers, body) = get(&openapi, path, &[("if-match", "\"other\"")]).await;
        assert_eq!((code, body.len()), (StatusCode::PRECONDITION_FAILED, 0));
        assert!(headers.contains_key("etag") && headers.contains_key("content-type"));
    }
}

#[tokio::test]
async fn refusals_of_documents_have_no_body() {
    let openapi = openapi();
    for (path, accept, expected, varies) in [
        ("/openapi/v3/apis/nope/v1", "*/*", StatusCode::NOT_FOUND, &[][..]),
        ("/openapi/v3/", "*/*", StatusCode::NOT_FOUND, &[]),
        (
            "/openapi/v2",
            "text/html",
            StatusCode::NOT_ACCEPTABLE,
            &["Accept-Encoding", "Accept"],
        ),
        (
            "/openapi/v3/api/v1",
            "text/html",
            StatusCode::NOT_ACCEPTABLE,
            &["Accept"],
        ),
    ] {
        let (code, headers, body) = get(&openapi, path, &[("accept", accept)]).await;
        assert_eq!((code, body.len()), (expected, 0), "{path}");
        assert_eq!(headers.get_all("vary").iter().collect::<Vec<_>>(), varies, "{path}");
    }
}

#[tokio::test]
async fn protobuf_has_both_names() {
    let openapi = OpenApi::new([("api/v1", &b"{\"swagger\":\"2.0\"}"[..])], [], Environment::defaults());
    for name in [super::endpoints::V2_PROTOBUF, super::endpoints::V2_PROTOBUF_OLD] {
        let (_, headers, body) = get(&openapi, "/openapi/v2", &[("accept", name)]).await;
        assert_eq!(
            (headers["content-type"].to_str().unwrap(), &body[..]),
            (super::endpoints::V2_PROTOBUF, &b"\x0a\x032.0"[..])
        );
    }
}

#[tokio::test]
async fn documents_of_version_3_are_there_in_protobuf() {
    let openapi = openapi();
    let liked = format!("application/json;q=0.5, {}", super::endpoints::V3_PROTOBUF_OLD);
    for accept in [super::endpoints::V3_PROTOBUF, &liked] {
        let (_, headers, body) = get(&openapi, "/openapi/v3/api/v1", &[("accept", accept)]).await;
        assert_eq!(
            (headers["content-type"].to_str().unwrap(), &body[..]),
            (super::endpoints::V3_PROTOBUF, &b"\x0a\x053.0.0"[..])
        );
    }
    let (_, json, _) = get(
        &openapi,
        "/openapi/v3/api/v1",
        &[("accept", "*/*;q=0.1, application/json")],
    )
    .await;
    assert_eq!(json["content-type"], "application/json");
}

#[tokio::test]
async fn the_large_document_is_compressed_for_those_who_take_it() {
    let openapi = openapi();
    let (_, headers, body) = get(&openapi, "/openapi/v2", &[("accept-encoding", "gzip")]).await;
    assert_eq!(headers["content-encoding"], "gzip");
    assert!(body.len() < 200);
    let accepted = "deflate, GZIP;q=0.5, *;q=0.5";
    let (_, headers, _) = get(&openapi, "/openapi/v2", &[("accept-encoding", accepted)]).await;
    assert_eq!(headers["content-encoding"], "gzip");
    let (_, headers, _) = get(&openapi, "/openapi/v2", &[]).await;
    assert!(!headers.contains_key("content-encoding"));
}

#[tokio::test]
async fn a_document_is_made_once_for_all_its_forms() {
    const MADE: &str = "apis/x.example.com/v1";
    let openapi = openapi();
    let made = Arc::new(AtomicUsize::new(0));
    let count = || {
        let made = Arc::clone(&made);
        move || {
            made.fetch_add(1, Ordering::Relaxed);
            let json = format!(r#"{{"openapi":"3.0.0","filler":"{}"}}"#, "y".repeat(2_000));
            Bytes::from(json)
        }
    };
    openapi.make_v3(MADE, count());
    openapi.make_v2(MADE, count());
    assert_eq!(made.load(Ordering::Relaxed), 0, "nobody has asked");
    let place = format!("/openapi/v3/{MADE}");
    let mut bodies = Vec::new();
    for _ in 0..3 {
        get(&openapi, "/openapi/v3", &[]).await;
        let (_, headers, body) = get(&openapi, &place, &[]).await;
        let tag = headers["etag"].to_str().unwrap().to_owned();
        let (known, _, _) = get(&openapi, &place, &[("if-none-match", &tag)]).await;
        assert_eq!(known, StatusCode::NOT_MODIFIED);
        get(&openapi, &place, &[("accept", super::endpoints::V3_PROTOBUF)]).await;
        bodies.push(body);
        get(&openapi, "/openapi/v2", &[]).await;
        get(&openapi, "/openapi/v2", &[("accept-encoding", "gzip")]).await;
        get(&openapi, "/openapi/v2", &[("accept", super::endpoints::V2_PROTOBUF)]).await;
        // Documents of other servers change the merged one, but not this part of it.
        openapi.adopt_v2("apis/other.example.com/v1", "{}");
    }
    assert_eq!(made.load(Ordering::Relaxed), 2, "one of each version");
    assert!(bodies.iter().all(|body| body == &bodies[0] && body.len() > 2_000));
}

#[tokio::test]
async fn documents_come_and_go_while_serving() {
    let openapi = openapi();
    openapi.set_v3("apis/x.example.com/v1", "{}");
    openapi.adopt_v2("apis/x.example.com/v1", r#"{"paths":{"/apis/x.example.com/v1/":{}}}"#);
    let (_, _, body) = get(&openapi, "/openapi/v2", &[]).await;
    assert!(body.windows(14).any(|part| part == b"x.example.com/"));
    assert_eq!(
        get(&openapi, "/openapi/v3/apis/x.example.com/v1", &[]).await.0,
        StatusCode::OK
    );
    openapi.remove_v3("apis/x.example.com/v1");
    openapi.disown_v2("apis/x.example.com/v1");
    let (_, _, body) = get(&openapi, "/openapi/v2", &[]).await;
    assert!(!body.windows(14).any(|part| part == b"x.example.com/"));
    assert_eq!(
        get(&openapi, "/openapi/v3/apis/x.example.com/v1", &[]).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_document_that_the_program_has_compressed_is_answered_as_text() {
    use std::io::Write as _;

    let text = format!(r#"{{"openapi":"3.0.0","filler":"{}"}}"#, "x".repeat(2_000));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    let compressed: &'static [u8] = encoder.finish().unwrap().leak();
    let openapi = OpenApi::new([], [("api/v1", compressed)], Environment::defaults());
    let plain = OpenApi::default();
    plain.set_v3("api/v1", text.clone());

    let (_, headers, body) = get(&openapi, "/openapi/v3/api/v1", &[]).await;
    let (_, expected, _) = get(&plain, "/openapi/v3/api/v1", &[]).await;
    assert_eq!(
        (headers["etag"].to_str().unwrap(), &body[..]),
        (expected["etag"].to_str().unwrap(), text.as_bytes())
    );
    let (code, headers, body) = get(&openapi, "/openapi/v3/api/v1", &[("range", "bytes=2-8")]).await;
    let place = headers["content-range"].to_str().unwrap();
    let size = text.len();
    assert_eq!(
        (code, place, &body[..]),
        (
            StatusCode::PARTIAL_CONTENT,
            &*format!("bytes 2-8/{size}"),
            &b"openapi"[..]
        )
    );
}
