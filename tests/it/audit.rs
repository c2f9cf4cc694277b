//! The audit record of requests.

mod recorded;
mod webhook;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Binary, Home};
use serde_json::Value;

use crate::objects::CONFIG_MAPS;

/// The time limit for an event, far above the usual one.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A policy that records everything at `level`.
fn policy(home: &Home, level: &str) -> String {
    let file = home.path().join("policy.yaml");
    let text = format!("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: {level}\n");
    fs::write(&file, text).unwrap();
    format!("--audit-policy-file={}", file.display())
}

/// The events in a log so far.
fn events(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    // The last line may be being written.
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    complete
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Waits for the events that `wanted` selects, until there are `count`.
async fn wait_for(log: &Path, count: usize, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let begin = Instant::now();
    loop {
        let found: Vec<Value> = events(log).into_iter().filter(&wanted).collect();
        if found.len() >= count {
            return found;
        }
        assert!(begin.elapsed() < TIMEOUT, "{count} events expected, got {found:#?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_strict_log_that_cannot_be_written_refuses_requests() {
    for (mode, expected) in [("blocking", 200), ("blocking-strict", 500)] {
        let home = Home::new().unwrap();
        // The server's own requests at its start go on.
        let file = home.path().join("policy.yaml");
        let text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- {level: None, users: [\"system:apiserver\"]}\n- {level: Metadata}\n";
        fs::write(&file, text).unwrap();
        let policy = format!("--audit-policy-file={}", file.display());
        let flags = [
            "--storage=memory",
            &policy,
            // Every write fails, because the device is full.
            "--audit-log-path=/dev/full",
            &format!("--audit-log-mode={mode}"),
        ];
        let mut server = home.spawn(&Binary::Planesmith.path().unwrap(), &flags).unwrap();
        let connection = server.listening().await.unwrap();
        if expected == 200 {
            server.ready().await.unwrap();
        }
        let answer = connection.get("/version").await.unwrap();
        assert_eq!(answer.status, expected, "{mode}: {}", answer.excerpt());
    }
}

#[tokio::test]
async fn lists_are_recorded_whole_in_every_encoding() {
    let home = Home::new().unwrap();
    let log = home.path().join("audit.log");
    let flags = [
        "--storage=memory",
        &policy(&home, "RequestResponse"),
        &format!("--audit-log-path={}", log.display()),
    ];
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    let text = "x".repeat(40_000);
    for number in 0..8 {
        let object = serde_json::json!({"metadata": {"name": format!("m{number}")}, "data": {"text": text}});
        connection
            .call(Method::POST, CONFIG_MAPS, object.to_string())
            .await
            .unwrap()
            .expect(201)
            .unwrap();
    }
    for (format, id) in [
        ("json", "in-json"),
        ("yaml", "in-yaml"),
        ("vnd.kubernetes.protobuf", "in-protobuf"),
    ] {
        let request = connection.request(Method::GET, CONFIG_MAPS);
        let request = request
            .header("accept", format!("application/{format}"))
            .header("accept-encoding", "gzip")
            .header("audit-id", id);
        let answer = connection
            .finish(request.body(Bytes::new().into()).unwrap())
            .await
            .unwrap();
        answer.expect(200).unwrap();
        let wanted = |event: &Value| event["auditID"] == id && event["stage"] == "ResponseComplete";
        let events = wait_for(&log, 1, wanted).await;
        let list = &events[0]["responseObject"];
        assert_eq!(list["kind"], "ConfigMapList", "{id}");
        let items = list["items"].as_array().unwrap();
        let named = |name: &str| items.iter().find(|item| item["metadata"]["name"] == name);
        assert_eq!(
            named("m7").unwrap()["data"]["text"].as_str().map(str::len),
            Some(40_000),
            "{id}"
        );
        assert_eq!(
            events[0]["annotations"]["authorization.k8s.io/decision"], "allow",
            "{id}"
        );
    }
}
