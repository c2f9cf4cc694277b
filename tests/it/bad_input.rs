//! Hostile input: the server refuses it with the correct response, and continues to serve.

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::objects::{CONFIG_MAPS, assert_healthy, config_map, path};

/// The time limit for a well-formed request during an attack, far above the usual duration.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

const DEPTH: usize = 100_000;

async fn server() -> (Server, Home) {
    let home = Home::new().unwrap();
    let server = home
        .start(&Binary::Planesmith.path().unwrap(), &["--storage=memory"])
        .await
        .unwrap();
    (server, home)
}

/// Sends `body`, and asserts that it is refused with `status` and `reason`, and that the server still works.
async fn refused(
    media_type: &str,
    method: Method,
    path: &str,
    body: impl Into<bytes::Bytes>,
    status: u16,
    reason: &str,
) {
    let (server, home) = server().await;
    let connection = server.connect().await.unwrap();
    let made = connection
        .call(Method::POST, CONFIG_MAPS, config_map("target", "kept"))
        .await
        .unwrap();
    assert_eq!(made.status, 201, "{}", made.excerpt());

    // A server may respond and close before it has read the whole body, so this request has its own connection.
    let answer = server
        .connect()
        .await
        .unwrap()
        .call_as(media_type, method, path, body)
        .await
        .unwrap();
    assert_status(&answer, status, reason);
    assert_healthy(&connection, media_type).await;
    assert_no_panic(&home);
}

fn assert_status(answer: &Answer, status: u16, reason: &str) {
    assert_eq!(answer.status, status, "{}", answer.excerpt());
    let body = answer.json().unwrap();
    assert_eq!(body["kind"], "Status", "{body}");
    assert_eq!(body["status"], "Failure", "{body}");
    assert_eq!(body["reason"], reason, "{body}");
    assert_eq!(body["code"], status, "{body}");
}

fn assert_no_panic(home: &Home) {
    let log = home.log();
    assert!(!log.contains("panicked"), "{log}");
}

#[tokio::test]
async fn malformed_json_is_a_bad_request() {
    for body in [
        "{",
        "{\"kind\":",
        "[1,2",
        "{\"kind\":\"ConfigMap\",}",
        "nonsense",
        "{} {}",
    ] {
        refused("application/json", Method::POST, CONFIG_MAPS, body, 400, "BadRequest").await;
    }
}

#[tokio::test]
async fn a_body_of_4_mib_is_too_large() {
    let body = config_map("large", &"x".repeat(4 << 20));
    refused(
        "application/json",
        Method::POST,
        CONFIG_MAPS,
        body,
        413,
        "RequestEntityTooLarge",
    )
    .await;
}

#[tokio::test]
async fn a_config_map_of_2_mib_is_invalid() {
    let body = config_map("large", &"x".repeat(2 << 20));
    refused("application/json", Method::POST, CONFIG_MAPS, body, 422, "Invalid").await;
}

#[tokio::test]
async fn a_document_nested_100_000_deep_is_a_bad_request() {
    let nested = "{\"a\":".repeat(DEPTH) + "1" + &"}".repeat(DEPTH);
    let body = format!("{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{nested}}}");
    refused("application/json", Method::POST, CONFIG_MAPS, body, 400, "BadRequest").await;
    let lists = "[".repeat(DEPTH) + &"]".repeat(DEPTH);
    refused(
        "application/json",
        Method::POST,
        CONFIG_MAPS,
        lists.clone(),
        400,
        "BadRequest",
    )
    .await;
    refused("application/yaml", Method::POST, CONFIG_MAPS, lists, 400, "BadRequest").await;
}

#[tokio::test]
async fn a_patch_nested_100_000_deep_is_refused() {
    let nested = "{\"a\":".repeat(DEPTH) + "1" + &"}".repeat(DEPTH);
    let target = path("target");
    refused(
        "application/merge-patch+json",
        Method::PATCH,
        &target,
        nested.clone(),
        400,
        "BadRequest",
    )
    .await;
    let patch = format!("[{{\"op\":\"add\",\"path\":\"/data\",\"value\":{nested}}}]");
    refused(
        "application/json-patch+json",
        Method::PATCH,
        &target,
        patch,
        400,
        "BadRequest",
    )
    .await;
}

/// A validation with quadratic cost would occupy the whole server.
#[tokio::test]
async fn metadata_with_long_lists_is_judged_in_time() {
    let (server, home) = server().await;
    let connection = server.connect().await.unwrap();
    let many = 20_000;
    let owner = |number| json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": format!("u{number}")});
    let owners: Vec<_> = (0..many).map(owner).collect();
    let controller = |number: i32| {
        let uid = number.to_string();
        json!({"apiVersion": "v1", "kind": "A", "name": "a", "uid": uid, "controller": true})
    };
    let controllers: Vec<_> = (0..many).map(controller).collect();
    let manager = |number: i32| {
        json!({"manager": format!("m{number}"), "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {format!("f:k{number}"): {}}}})
    };
    let managers: Vec<_> = (0..many / 2).map(manager).collect();
    let finalizers: Vec<_> = (0..many).map(|number| format!("no domain {number}")).collect();
    for (metadata, expected) in [
        (json!({"name": "owned", "ownerReferences": owners}), 201),
        (json!({"name": "controlled", "ownerReferences": controllers}), 422),
        (json!({"name": "held", "finalizers": finalizers}), 422),
        (json!({"name": "managed", "managedFields": managers}), 201),
    ] {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}).to_string();
        let answer = connection.call(Method::POST, CONFIG_MAPS, body);
        let answer = tokio::time::timeout(ANSWER_WITHIN, answer).await;
        let answer = answer.expect("long lists are judged in time").unwrap();
        assert_eq!(answer.status, expected, "{}", answer.excerpt());
    }
    assert_healthy(&connection, "long lists").await;
    assert_no_panic(&home);
}

#[tokio::test]
async fn invalid_utf8_becomes_the_replacement_character() {
    let (server, home) = server().await;
    let connection = server.connect().await.unwrap();
    let mut body = config_map("bytes", "before-@-after").to_vec();
    let at = body.iter().position(|&byte| byte == b'@').unwrap();
    body[at] = 0xff;
    let made = connection.call(Method::POST, CONFIG_MAPS, body).await.unwrap();
    assert_eq!(made.status, 201, "{}", made.excerpt());
    assert_eq!(made.json().unwrap()["data"]["value"], "before-\u{fffd}-after");
    assert_healthy(&connection, "invalid UTF-8").await;
    assert_no_panic(&home);
}

#[tokio::test]
async fn bytes_that_are_no_protobuf_are_a_bad_request() {
    let body = b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff".as_slice();
    refused(
        "application/vnd.kubernetes.protobuf",
        Method::POST,
        CONFIG_MAPS,
        body,
        400,
        "BadRequest",
    )
    .await;
}

#[tokio::test]
async fn clients_that_dribble_do_not_hold_up_others() {
    let (server, home) = server().await;
    let mut slow = JoinSet::new();
    for number in 0..200 {
        let endpoint = server.endpoint().clone();
        slow.spawn(async move {
            let mut stream = endpoint.open("http/1.1").await.unwrap();
            let head = format!(
                "POST {CONFIG_MAPS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\
                 Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n",
                endpoint.token()
            );
            // Half of them never complete their headers, the others never complete their body.
            let finished = if number % 2 == 0 { 10 } else { head.len() };
            stream.write_all(&head.as_bytes()[..finished]).await.unwrap();
            // No faster than a busy machine allows, even after a delay.
            let mut pace = tokio::time::interval(Duration::from_millis(100));
            pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                pace.tick().await;
                if stream.write_all(b"x").await.is_err() || stream.flush().await.is_err() {
                    return;
                }
            }
        });
    }
    let connection = server.connect().await.unwrap();
    for _ in 0..50 {
        let healthy = tokio::time::timeout(ANSWER_WITHIN, assert_healthy(&connection, "dribbling clients"));
        healthy.await.expect("others do not wait for the slow clients");
    }
    slow.shutdown().await;
    assert_healthy(&connection, "dribbling clients that went away").await;
    assert_no_panic(&home);
}

#[tokio::test]
async fn bytes_that_are_no_request_close_their_connection_only() {
    let (server, home) = server().await;
    for garbage in [
        b"\x00\x01\x02\x03\r\n\r\n".as_slice(),
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ] {
        let mut stream = server.endpoint().open("http/1.1").await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // The server can choose the form of the closure, but it has to close.
        let ended = tokio::time::timeout(ANSWER_WITHIN, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "still open after {garbage:?}");
    }
    assert_healthy(&server.connect().await.unwrap(), "garbage").await;
    assert_no_panic(&home);
}

#[tokio::test]
async fn a_thousand_idle_watchers_all_see_the_next_event() {
    let (server, home) = server().await;
    let mut connections = Vec::new();
    for _ in 0..20 {
        connections.push(server.connect().await.unwrap());
    }
    let mut watchers = Vec::new();
    for number in 0..1000 {
        let connection: &Connection = &connections[number % connections.len()];
        watchers.push(
            connection
                .watch(&format!("{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dnews"))
                .await
                .unwrap(),
        );
    }
    assert_healthy(&connections[0], "a thousand watchers").await;
    let made = connections[0]
        .call(Method::POST, CONFIG_MAPS, config_map("news", "now"))
        .await
        .unwrap();
    assert_eq!(made.status, 201, "{}", made.excerpt());
    let mut events = JoinSet::new();
    for mut watcher in watchers {
        events.spawn(async move { watcher.event().await });
    }
    let all = tokio::time::timeout(ANSWER_WITHIN * 3, events.join_all()).await;
    for event in all.expect("every watcher gets its event in time") {
        let event = event.unwrap().unwrap();
        assert_eq!(
            (&event["type"], &event["object"]["data"]["value"]),
            (&"ADDED".into(), &"now".into())
        );
    }
    assert_no_panic(&home);
}

/// A connection stays usable after a request without a handler, even if its body arrives after the response.
#[tokio::test]
async fn a_body_that_nobody_wants_does_not_cost_the_connection() {
    let (server, _home) = server().await;
    let mut stream = server.endpoint().open("http/1.1").await.unwrap();
    let token = server.endpoint().token().to_owned();
    for _ in 0..2 {
        let head = format!(
            "POST /apis/nobody.example.com/v1/things HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-length: 2\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        // This response shows that the server has received the head before the body is sent.
        let connection = server.connect().await.unwrap();
        assert_eq!(connection.get("/readyz").await.unwrap().status, 200);
        stream.write_all(b"{}").await.unwrap();
        stream.flush().await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"404 page not found\n") {
            let read = stream.read_buf(&mut answer).await.unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&answer));
        }
    }
}
