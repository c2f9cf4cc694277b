//! Hostile requests: each gets an answer.

use std::time::Duration;

use axum::body::Body;
use http::{Method, Request};

use crate::harness::{NOTES, SHELVES, Server};
use crate::kinds::IN_PAIRS;

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
const TYPES: [&str; 7] = [
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];
const ACCEPTS: [&str; 6] = [
    "*/*;q=9",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io, ;;;=,/",
    ",,,;q=;q=nan",
];
const WORDS: [&str; 24] = [
    "limit",
    "continue",
    "labelSelector",
    "fieldSelector",
    "resourceVersion",
    "resourceVersionMatch",
    "watch",
    "dryRun",
    "timeoutSeconds",
    "fieldManager",
    "fieldValidation",
    "propagationPolicy",
    "gracePeriodSeconds",
    "force",
    "pretty",
    "0",
    "-1",
    "Exact",
    "NotOlderThan",
    "All",
    "99999999999999999999",
    "%00%ff",
    "a in (",
    "metadata.name=n",
];
const BODIES: [&str; 14] = [
    "",
    "null",
    "[]",
    "{}",
    r#"{"metadata":{"name":"n"}}"#,
    r#"{"metadata":{"name":"n","labels":{"":"\ud800"},"finalizers":[""],"ownerReferences":[null]}}"#,
    r#"{"metadata":{"name":"n","managedFields":[{}],"creationTimestamp":"0000-00-00T00:00:00Z"}}"#,
    r#"{"spec":{"size":-9223372036854775809,"colour":null},"status":[]}"#,
    r#"[{"op":"copy","from":"","path":"/data/x"},{"op":"move","from":"/data","path":"/data/a"}]"#,
    r#"[{"op":"add","path":"/metadata/labels/-1","value":1e999}]"#,
    r#"{"$patch":"delete","data":{"$retainKeys":["a"]},"$setElementOrder/x":1}"#,
    "a: &a [*a, *a]\n",
    "--- !!binary x\n? [] : {}\n",
    "k8s\0\n\u{1}\u{7f}\u{7f}\u{7f}",
];

fn noise(random: &mut fastrand::Rng) -> String {
    let query: Vec<String> = (0..random.u8(..4))
        .map(|_| {
            format!(
                "{}={}",
                random.choice(WORDS).unwrap_or_default(),
                random.choice(WORDS).unwrap_or_default()
            )
        })
        .collect();
    query.join("&").replace(' ', "%20")
}

#[tokio::test]
async fn every_odd_request_gets_an_answer() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let mut random = fastrand::Rng::with_seed(36);
    for _ in 0..6000 {
        let base = *random
            .choice(&[NOTES, SHELVES, "/api/v1/notes", "/api/v1/sites"])
            .expect("some");
        let below = *random
            .choice(&[
                "",
                "/n",
                "/a",
                "/%2e%2e",
                "/n/status",
                "/n/scale",
                "/n/finalize",
                "/%E2%98%83",
            ])
            .expect("some");
        let query = noise(&mut random);
        let mut body = random.choice(BODIES).unwrap_or_default().as_bytes().to_vec();
        if random.bool() && !body.is_empty() {
            let position = random.usize(..body.len());
            body[position] = random.u8(..);
        }
        let request = Request::builder()
            .method(random.choice(METHODS).expect("some"))
            .uri(format!("{base}{below}?{query}&timeoutSeconds=-1"))
            .header("content-type", random.choice(TYPES).expect("some"))
            .header("accept", random.choice(ACCEPTS).expect("some"));
        let request = request.body(Body::from(body)).expect("legal");
        let shown = format!("{} {}", request.method(), request.uri());
        // A watch with a longer timeout is cut off: only the start of its answer counts.
        if let Ok(answer) = tokio::time::timeout(Duration::from_secs(2), server.send(request)).await {
            assert!((200..=504).contains(&answer.code), "{shown}: {}", answer.code);
            assert!(answer.code != 500 || !answer.text.contains("panic"), "{shown}");
        }
    }
    assert_eq!(server.get(NOTES).await.code, 200);
}

#[tokio::test]
async fn deep_documents_of_every_form_are_refused() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let deep = |open: &str| open.repeat(100_000);
    for (method, content_type, body) in [
        (Method::POST, TYPES[0], deep("[")),
        (Method::POST, TYPES[0], format!("{{\"metadata\":{}", deep("{\"a\":"))),
        (Method::POST, TYPES[1], deep("[")),
        (Method::POST, TYPES[1], deep("- ")),
        (Method::PATCH, TYPES[3], deep("[")),
        (Method::PATCH, TYPES[4], deep("{\"a\":")),
        (Method::PATCH, TYPES[5], deep("{\"a\":")),
        (Method::DELETE, TYPES[0], deep("{\"preconditions\":")),
    ] {
        let path = if method == Method::POST {
            NOTES.to_owned()
        } else {
            format!("{NOTES}/n")
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type);
        let answer = server.send(request.body(Body::from(body)).expect("legal")).await;
        assert!(
            (400..=422).contains(&answer.code),
            "{content_type}: {} {}",
            answer.code,
            &answer.text[..200.min(answer.text.len())]
        );
    }
}

/// Each of these once took gigabytes of memory or minutes.
#[tokio::test]
async fn small_bodies_that_stand_for_much_are_answered() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let (name, text) = ("k".repeat(100_000), "x".repeat(100_000));
    let insertions = r#",{"op":"add","path":"/x/0","value":0}"#.repeat(2_000);
    let elements = "0,".repeat(100_000);
    for (method, content_type, body, code) in [
        (
            Method::POST,
            TYPES[0],
            format!(
                r#"{{"metadata":{{"name":"x"}},"{name}":[{}{{}}]}}"#,
                "{},".repeat(30_000)
            ),
            201,
        ),
        (
            Method::POST,
            TYPES[1],
            format!("x: &a {text}\ny: [{}]\n", "*a,".repeat(5_000)),
            400,
        ),
        (
            Method::POST,
            TYPES[1],
            format!("x: &a {text}\ny: [{}]\n", "{*a : 1},".repeat(5_000)),
            400,
        ),
        (
            Method::PATCH,
            TYPES[3],
            format!(r#"[{{"op":"add","path":"/x","value":[{elements}0]}}{insertions}]"#),
            422,
        ),
    ] {
        let path = if method == Method::POST {
            NOTES.to_owned()
        } else {
            format!("{NOTES}/n")
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type);
        let answer = server.send(request.body(Body::from(body)).expect("legal")).await;
        let start: String = answer.text.chars().take(200).collect();
        assert_eq!(answer.code, code, "{content_type}: {start}");
    }
}

#[test]
fn large_writes_keep_no_thread_from_others() {
    writes_keep_no_thread_from_others(100_000);
}

#[test]
fn small_writes_with_expensive_rules_keep_no_thread_from_others() {
    writes_keep_no_thread_from_others(5_000);
}

/// Two writes of about `size` bytes are checked at the same time although there is one worker.
fn writes_keep_no_thread_from_others(size: usize) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let server = std::sync::Arc::new(Server::with_places().await);
        let writes = ["one", "other"].map(|name| {
            let server = std::sync::Arc::clone(&server);
            let text = "x".repeat(size);
            let body = format!(
                r#"{{"metadata":{{"name":"{name}","annotations":{{"a":"{text}"}}}},"spec":{{"size":{IN_PAIRS}}}}}"#
            );
            tokio::spawn(async move { server.post(SHELVES, &body).await.code })
        });
        for write in writes {
            assert_eq!(write.await.expect("no panic"), 201);
        }
    });
}
