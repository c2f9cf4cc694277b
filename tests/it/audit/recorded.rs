//! Requests whose events kube-apiserver has recorded.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Home};
use serde_json::{Map, Value};

use super::wait_for;

/// The folder with the policy, the requests and the events; `None` without reference data.
fn reference() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/audit");
    if folder.is_dir() {
        return Some(folder);
    }
    skip(
        "audit events",
        "there is no reference data at ../shared/kubernetes/audit",
    );
    None
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn send(connection: &Connection, request: &Value) {
    let text = |field: &str| request[field].as_str().unwrap_or_default();
    let method: Method = text("method").parse().unwrap();
    let mut builder = connection.request(method, text("path"));
    let headers = builder.headers_mut().unwrap();
    headers.remove("authorization");
    if let Some(token) = request["token"].as_str() {
        headers.insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    builder = builder
        .header("user-agent", "audit-script/1")
        .header("audit-id", format!("step-{}", text("id")))
        .header("content-type", text("contentType"));
    for (name, value) in request["headers"].as_object().unwrap() {
        builder = builder.header(name, value.as_str().unwrap());
    }
    let body = match &request["body"] {
        Value::Null => Bytes::new(),
        body => body.to_string().into(),
    };
    let answer = connection.finish(builder.body(body.into()).unwrap()).await.unwrap();
    assert_eq!(
        u64::from(answer.status.as_u16()),
        request["status"],
        "{request}\n{}",
        answer.excerpt()
    );
}

/// Masks what differs between runs, and drops what servers word themselves.
fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "managedFields" | "description"));
            let masked = fields.map(|(name, value)| {
                let value = match (name.as_str(), value) {
                    ("token", _) => "<jwt>".into(),
                    ("resourceVersion", _) => "<rv>".into(),
                    _ => masked(value),
                };
                (name.clone(), value)
            });
            Value::Object(masked.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(masked).collect(),
        Value::String(text) => masked_text(text).into(),
        other => other.clone(),
    }
}

fn masked_text(text: &str) -> String {
    // The age of an object, in a table.
    if text
        .strip_suffix('s')
        .is_some_and(|seconds| seconds.parse::<u32>().is_ok())
    {
        return "<age>".to_owned();
    }
    let is_uuid = |text: &str| {
        let parts: Vec<usize> = text.split('-').map(str::len).collect();
        parts == [8, 4, 4, 4, 12]
    };
    let is_time = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
    if is_time {
        return "<time>".to_owned();
    }
    match text.strip_prefix("JTI=") {
        Some(id) if is_uuid(id) => "JTI=<uuid>".to_owned(),
        _ if is_uuid(text) => "<uuid>".to_owned(),
        _ => text.to_owned(),
    }
}

#[tokio::test]
async fn recorded_requests_have_the_recorded_events() {
    let Some(folder) = reference() else { return };
    let home = Home::new().unwrap();
    let tokens = "end-to-end-admin,admin,admin-uid,\"system:masters\"\nadmintoken,admin,admin-uid,\"system:masters\"\n\
                  alicetoken,alice,alice-uid,\"dev\"\n";
    fs::write(home.path().join("tokens.csv"), tokens).unwrap();
    let log = home.path().join("audit.log");
    let flags = [
        "--storage=memory",
        "--controllers=-*",
        "--authorization-mode=RBAC",
        &format!("--audit-policy-file={}", folder.join("policy.yaml").display()),
        &format!("--audit-log-path={}", log.display()),
    ];
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    for request in lines(&folder.join("requests.jsonl")) {
        // The server closes the connections of clients without credentials.
        send(&server.connect().await.unwrap(), &request).await;
    }
    let expected = lines(&folder.join("events.jsonl"));
    let is_step = |event: &Value| event["auditID"].as_str().is_some_and(|id| id.starts_with("step-"));
    let got = wait_for(&log, expected.len(), is_step).await;
    // Events of one request are in order; a watch may end after requests that follow it.
    let of = |events: &[Value], id: &Value| -> Vec<Value> {
        let events = events.iter().filter(|event| event["auditID"] == *id);
        events.map(masked).collect()
    };
    let mut ids: Vec<&Value> = expected.iter().map(|event| &event["auditID"]).collect();
    ids.dedup();
    for id in ids {
        assert_eq!(of(&got, id), of(&expected, id), "{id}");
    }
    assert_eq!(got.len(), expected.len());
}
