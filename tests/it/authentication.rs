//! Credentials that another server knows: an OpenID provider and a token webhook, which the test runs; and bootstrap tokens.

mod openid;
mod peer;
mod webhook;

use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Endpoint, Home, Server};
use serde_json::{Value, json};

use crate::transcript::{has_kubectl, run};

const REVIEWS: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// The time limit for a change to take effect.
const TIMEOUT: Duration = Duration::from_secs(60);

fn review() -> Value {
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
}

/// Returns the user of a token, or the status of the refusal.
async fn whoami(server: &Server, token: &str) -> Result<Value, u16> {
    // The server closes the connections of clients that it does not know.
    let endpoint = Endpoint::new(&server.endpoint().url(), token, None).unwrap();
    let connection = Connection::open(&endpoint).await.unwrap();
    let answer = connection
        .call(Method::POST, REVIEWS, review().to_string())
        .await
        .unwrap();
    match answer.status.as_u16() {
        201 => Ok(answer.json().unwrap()["status"]["userInfo"].clone()),
        refused => Err(refused),
    }
}

/// Waits until the token has the user `name`.
async fn becomes(server: &Server, token: &str, name: &str) -> Value {
    let begin = Instant::now();
    loop {
        let user = whoami(server, token).await;
        match user {
            Ok(user) if user["username"] == name => return user,
            other => assert!(begin.elapsed() < TIMEOUT, "{name} is {other:?}:\n{}", server.log()),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn start(home: &Home, flags: &[&str]) -> Server {
    let binary = Binary::Planesmith.path().unwrap();
    home.start(&binary, &[&["--storage=memory"], flags].concat())
        .await
        .unwrap()
}

fn write(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.display().to_string()
}

#[tokio::test]
async fn a_node_joins_with_a_bootstrap_token() {
    let home = Home::new().unwrap();
    let server = start(&home, &["--enable-bootstrap-token-auth"]).await;
    let connection = server.connect().await.unwrap();
    let secrets = "/api/v1/namespaces/kube-system/secrets";
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-abcdef"},
        "stringData": {
            "token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:workers",
        },
    });
    let created = connection
        .call(Method::POST, secrets, secret.to_string())
        .await
        .unwrap();
    created.expect(201).unwrap();
    let user = whoami(&server, "abcdef.0123456789abcdef").await.unwrap();
    assert_eq!(
        user,
        json!({
            "username": "system:bootstrap:abcdef",
            "groups": ["system:bootstrappers", "system:bootstrappers:workers", "system:authenticated"],
        })
    );
    assert_eq!(whoami(&server, "abcdef.0123456789abcdeg").await, Err(401));
    if has_kubectl() {
        let file = home.path().join("review.json");
        let file = write(&file, &review().to_string());
        let script = format!(
            "kubectl --server=$URL --insecure-skip-tls-verify --token=abcdef.0123456789abcdef --kubeconfig=/dev/null \
             create --raw {REVIEWS} -f {file}"
        );
        let (printed, status) = run(&home, &script, &[("URL", &server.endpoint().url())]).await;
        assert!(status == 0 && printed.contains("system:bootstrap:abcdef"), "{printed}");
    } else {
        skip("kubectl with a token", "kubectl is not installed");
    }
    let path = format!("{secrets}/bootstrap-token-abcdef");
    connection
        .call(Method::DELETE, &path, Bytes::new())
        .await
        .unwrap()
        .expect(200)
        .unwrap();
    // The token was accepted a moment ago, and is for ten seconds.
    let begin = Instant::now();
    while whoami(&server, "abcdef.0123456789abcdef").await.is_ok() {
        assert!(begin.elapsed() < TIMEOUT, "the token outlives its secret");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
