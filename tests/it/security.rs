//! Secrets, files and the process itself, which no other user may read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Method, Request};
use planesmith_e2e::server::ADMIN_TOKEN;
use planesmith_e2e::{Answer, Binary, Connection, Home, RequestBody, Server};
use serde_json::{Value, json};

use crate::base64::encoded;

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";
const HOOKS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/// The time limit for a token to end with its object; verdicts are cached for ten seconds.
const REVOKED_WITHIN: Duration = Duration::from_secs(40);

async fn started(home: &Home, flags: &[&str]) -> (Server, Connection) {
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

/// Sends a request with other credentials than the administrator's, over a connection of its own.
async fn request_with(server: &Server, authorization: &str, path: &str) -> Answer {
    let uri = format!("{}{path}", server.endpoint().url());
    let request = Request::get(uri).header(AUTHORIZATION, authorization);
    let body: RequestBody = Bytes::new().into();
    let connection = server.connect().await.unwrap();
    connection.finish(request.body(body).unwrap()).await.unwrap()
}

async fn create(connection: &Connection, collection: &str, object: &Value) -> Value {
    let created = connection
        .call(Method::POST, collection, object.to_string())
        .await
        .unwrap();
    created.expect(201).unwrap().json().unwrap()
}

/// Creates a service account and a Secret, and returns a token of the account that is bound to the Secret.
async fn bound_token(connection: &Connection) -> String {
    create(connection, ACCOUNTS, &json!({"metadata": {"name": "robot"}})).await;
    let secret = create(connection, SECRETS, &json!({"metadata": {"name": "bound"}})).await;
    let bound = json!({"apiVersion": "v1", "kind": "Secret", "name": "bound", "uid": secret["metadata"]["uid"]});
    let request =
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": bound}});
    let token = create(connection, &format!("{ACCOUNTS}/robot/token"), &request).await;
    token["status"]["token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn no_secret_appears_in_logs_errors_or_metrics() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &["--storage=memory", "-v=10"]).await;
    let plain = "c0rrect-h0rse";
    let encoded = encoded(plain.as_bytes());
    let mut answers: Vec<Answer> = Vec::new();

    // Requests that succeed, and requests that fail at every step of a write.
    create(
        &connection,
        SECRETS,
        &json!({"metadata": {"name": "s"}, "data": {"k": encoded}}),
    )
    .await;
    for body in [
        json!({"metadata": {"name": "Not a name"}, "data": {"k": encoded}}).to_string(),
        json!({"metadata": {"name": "s"}, "stringData": {"k": plain}}).to_string(),
        json!({"metadata": {"name": "t"}, "data": {"k": plain}}).to_string(),
        json!({"metadata": {"name": "t"}, "data": [encoded]}).to_string(),
        json!({"metadata": {"name": "t"}, "data": {"not a key": encoded}}).to_string(),
        json!({"metadata": {"name": "t"}, "data": {"k": encoded}, "datum": encoded}).to_string(),
        json!({"metadata": {"name": "t"}, "data": {"k": encoded}, "type": "kubernetes.io/dockerconfigjson"})
            .to_string(),
        format!("{{\"metadata\": {{\"name\": \"t\"}}, \"data\": {{\"k\": \"{encoded}\""),
    ] {
        let path = format!("{SECRETS}?fieldValidation=Strict");
        let refused = connection.call(Method::POST, &path, body).await.unwrap();
        assert!(refused.status.is_client_error(), "{}", refused.excerpt());
        answers.push(refused);
    }
    let patch = json!([{"op": "test", "path": "/data/k", "value": plain}]).to_string();
    let path = format!("{SECRETS}/s");
    answers.push(
        connection
            .call_as("application/json-patch+json", Method::PATCH, &path, patch)
            .await
            .unwrap(),
    );

    // Credentials, right and wrong.
    let token = bound_token(&connection).await;
    let forged = format!("{}x", &token[..token.len() - 8]);
    for authorization in [
        format!("Bearer {token}"),
        format!("Bearer {forged}"),
        "Bearer wr0ng-t0ken".to_owned(),
        "Basic wr0ng-t0ken".to_owned(),
    ] {
        for path in ["/version", SECRETS, "/readyz?verbose"] {
            answers.push(request_with(&server, &authorization, path).await);
        }
    }
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": forged}});
    let reviewed = create(&connection, "/apis/authentication.k8s.io/v1/tokenreviews", &review).await;
    let error = reviewed["status"]["error"].as_str().unwrap_or_default();
    assert!(!error.contains(&forged), "{error}");

    let mut places: Vec<(String, String)> = vec![("the log".to_owned(), server.log())];
    for path in [
        "/metrics",
        "/metrics/slis",
        "/healthz?verbose",
        "/statusz",
        "/flagz",
        "/api/v1/events",
    ] {
        let answer = connection.get(path).await.unwrap();
        places.push((path.to_owned(), String::from_utf8_lossy(&answer.body).into_owned()));
    }
    for answer in &answers {
        places.push((
            "an error".to_owned(),
            String::from_utf8_lossy(&answer.body).into_owned(),
        ));
    }
    assert!(places[0].1.contains(SECRETS), "the log has the requests");
    for (place, text) in &places {
        for secret in [plain, &encoded, &token, &forged, "wr0ng-t0ken", ADMIN_TOKEN] {
            assert!(!text.contains(secret), "{place} has {secret}: {text}");
        }
    }
}

#[tokio::test]
async fn a_text_of_a_client_forges_no_line_of_the_log() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &["--storage=memory", "-v=10"]).await;
    let forged = "FORGED: all is well";
    let escaped = "%0AFORGED:%20all%20is%20well";
    for path in [
        format!("/api/v1/namespaces/default/configmaps/a{escaped}"),
        format!("/nowhere{escaped}"),
        format!("/api/v1/namespaces/default/configmaps?labelSelector={escaped}"),
        format!("/api/v1/namespaces/default/configmaps?fieldManager={escaped}"),
    ] {
        connection.get(&path).await.unwrap();
    }
    let named = json!({"metadata": {"name": format!("a\n{forged}"), "namespace": format!("b\n{forged}")}, "kind": format!("c\n{forged}")});
    let path = "/api/v1/namespaces/default/configmaps";
    connection.call(Method::POST, path, named.to_string()).await.unwrap();
    let log = server.log();
    assert!(log.contains("nowhere"), "the log has the requests");
    assert!(
        !log.lines().any(|line| line.trim_start().starts_with("FORGED")),
        "{log}"
    );
}

/// Returns the files and folders below `folder`.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path))
        } else {
            found.push(path)
        }
    }
    found
}

#[tokio::test]
async fn a_data_folder_is_for_its_owner() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &[]).await;
    create(&connection, SECRETS, &json!({"metadata": {"name": "s"}})).await;
    server.kill().await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.data()), 0o700);
    let all = below(home.data());
    let is_public = |path: &Path| path.extension().is_some_and(|end| end == "crt" || end == "pub");
    let readable: Vec<&PathBuf> = all
        .iter()
        .filter(|path| !is_public(path) && mode(path) & 0o077 != 0)
        .collect();
    assert!(readable.is_empty(), "{readable:?}");
    let keys = all
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "key"));
    assert!(keys.count() > 3, "{all:?}");
}

#[tokio::test]
async fn the_process_writes_no_core_dump() {
    let home = Home::new().unwrap();
    let (server, _connection) = started(&home, &["--storage=memory"]).await;
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"))
        .unwrap();
    let values: Vec<&str> = core.split_whitespace().collect();
    assert_eq!(values[4..6], ["0", "0"], "{core}");
}

#[tokio::test]
async fn a_token_ends_with_the_object_that_it_is_bound_to() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &["--storage=memory"]).await;
    let authorization = format!("Bearer {}", bound_token(&connection).await);
    assert_eq!(request_with(&server, &authorization, "/api").await.status, 200);
    let deleted = connection
        .call(Method::DELETE, &format!("{SECRETS}/bound"), Bytes::new())
        .await
        .unwrap();
    assert_eq!(deleted.status, 200);
    let begin = Instant::now();
    while request_with(&server, &authorization, "/api").await.status != 401 {
        assert!(begin.elapsed() < REVOKED_WITHIN, "the token is still valid");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_webhook_at_the_server_itself_acts_without_credentials() {
    let home = Home::new().unwrap();
    let (server, connection) = started(&home, &["--storage=memory"]).await;
    let authority = std::fs::read(home.data().join("pki").join("ca.crt")).unwrap();
    let hook = json!({
        "name": "self.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "timeoutSeconds": 5,
        "clientConfig": {
            "url": format!("{}/api/v1/namespaces/kube-system/secrets", server.endpoint().url()),
            "caBundle": encoded(&authority),
        },
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
    });
    let hooks = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "self"}, "webhooks": [hook],
    });
    create(&connection, HOOKS, &hooks).await;
    let map = json!({"metadata": {"name": "m"}}).to_string();
    let path = "/api/v1/namespaces/default/configmaps";
    let begin = Instant::now();
    let refused = loop {
        let answer = connection
            .call(Method::POST, &format!("{path}?dryRun=All"), map.clone())
            .await
            .unwrap();
        if answer.status != 201 {
            break answer;
        }
        assert!(begin.elapsed() < REVOKED_WITHIN, "the webhook is never called");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(refused.status, 500, "{}", refused.excerpt());
    assert!(refused.excerpt().contains("system:anonymous"), "{}", refused.excerpt());
}

#[tokio::test]
async fn headers_of_a_proxy_mean_nothing_without_its_certificate() {
    let home = Home::new().unwrap();
    let (server, _connection) = started(&home, &["--storage=memory"]).await;
    let uri = format!("{}{SECRETS}", server.endpoint().url());
    let request = Request::get(uri)
        .header("X-Remote-User", "admin")
        .header("X-Remote-Group", "system:masters")
        .header(CONTENT_TYPE, "application/json");
    let body: RequestBody = Bytes::new().into();
    let connection = server.connect().await.unwrap();
    let answer = connection.finish(request.body(body).unwrap()).await.unwrap();
    assert_eq!(answer.status, 403);
    assert!(answer.excerpt().contains("system:anonymous"), "{}", answer.excerpt());
}
