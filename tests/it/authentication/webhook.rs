//! Tokens that a webhook reviews.

use std::sync::{Arc, Mutex};

use super::peer::Peer;
use super::*;

/// A webhook that knows the user `carol` of the token `tok3n`, and records the reviews.
async fn hook() -> (Peer, Arc<Mutex<Vec<Value>>>) {
    let reviews: Arc<Mutex<Vec<Value>>> = Arc::default();
    let own = Arc::clone(&reviews);
    let peer = Peer::start(move |path, body| {
        if path != "/review" {
            return None;
        }
        let mut review: Value = serde_json::from_slice(body).ok()?;
        own.lock().unwrap().push(review.clone());
        let token = review["spec"]["token"].as_str().unwrap_or_default();
        review["status"] = match token.strip_prefix("tok3n") {
            None => json!({"authenticated": false, "error": "the webhook does not know the token"}),
            Some(_) => json!({
                "authenticated": true,
                "user": {"username": "carol", "uid": "7", "groups": ["dev"], "extra": {"scope": ["read"]}},
            }),
        };
        Some(review.to_string())
    })
    .await;
    (peer, reviews)
}

fn kubeconfig(home: &Home, peer: &Peer) -> String {
    let authority = write(&home.path().join("webhook.crt"), peer.certificate());
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "webhook",
        "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "server"}}],
        "clusters": [{"name": "webhook", "cluster": {
            "server": format!("{}/review", peer.url()), "certificate-authority": authority,
        }}],
        "users": [{"name": "server", "user": {}}],
    });
    write(&home.path().join("webhook.kubeconfig"), &config.to_string())
}

#[tokio::test]
async fn a_webhook_that_comes_and_goes_reviews_tokens() {
    let (mut peer, reviews) = hook().await;
    let home = Home::new().unwrap();
    let flag = format!(
        "--authentication-token-webhook-config-file={}",
        kubeconfig(&home, &peer)
    );
    let server = start(&home, &[&flag, "--authentication-token-webhook-version=v1"]).await;

    let user = whoami(&server, "tok3n").await.unwrap();
    assert_eq!(
        user,
        json!({
            "username": "carol", "uid": "7", "groups": ["dev", "system:authenticated"], "extra": {"scope": ["read"]},
        })
    );
    let first = reviews.lock().unwrap()[0].clone();
    assert_eq!(first["apiVersion"], "authentication.k8s.io/v1");
    assert_eq!(
        first["spec"],
        json!({"token": "tok3n", "audiences": ["https://kubernetes.default.svc"]})
    );
    assert!(whoami(&server, "tok3n").await.is_ok());
    assert_eq!(peer.requests().len(), 1, "the answer is cached");
    for _ in 0..2 {
        assert_eq!(whoami(&server, "wrong").await, Err(401));
    }
    assert_eq!(peer.requests().len(), 2, "refusals are cached, too");

    peer.stop().await;
    assert!(whoami(&server, "tok3n").await.is_ok(), "the answer is cached");
    assert_eq!(whoami(&server, "tok3n-2").await, Err(401));
    peer.restart().await;
    assert!(whoami(&server, "tok3n-2").await.is_ok(), "{}", server.log());
    assert!(!server.log().contains("tok3n"), "tokens are no part of the log");
}

#[tokio::test]
async fn many_requests_with_one_token_ask_once() {
    let (peer, _) = hook().await;
    let home = Home::new().unwrap();
    let flag = format!(
        "--authentication-token-webhook-config-file={}",
        kubeconfig(&home, &peer)
    );
    let server = start(&home, &[&flag]).await;
    let requests = (0..20).map(|_| whoami(&server, "tok3n"));
    for user in futures_util::future::join_all(requests).await {
        assert_eq!(user.unwrap()["username"], "carol");
    }
    assert_eq!(peer.requests().len(), 1);
}
