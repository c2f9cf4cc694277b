//! Authorization by a webhook on loopback: by flags, and by a file with a chain of authorizers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Response};
use http_body_util::Full;
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

use super::{call_as, message};
use crate::tls_server::TlsServer;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// The time limit for a changed file to take effect.
const RELOADED_WITHIN: Duration = Duration::from_secs(60);

/// A webhook that permits everything about config maps, denies everything about secrets, and has no opinion otherwise.
struct Reviewer {
    server: TlsServer,
    reviews: Arc<Mutex<Vec<Value>>>,
}

impl Reviewer {
    async fn start() -> Self {
        let reviews: Arc<Mutex<Vec<Value>>> = Arc::default();
        let recorded = Arc::clone(&reviews);
        let server = TlsServer::start(&[], move |_, body| {
            let mut review: Value = serde_json::from_slice(body).unwrap();
            let status = match review["spec"]["resourceAttributes"]["resource"].as_str() {
                Some("configmaps") => json!({"allowed": true, "reason": "config maps are harmless"}),
                Some("secrets") => json!({"allowed": false, "denied": true, "reason": "never secrets"}),
                _ => json!({"allowed": false}),
            };
            recorded
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(review.clone());
            review["status"] = status;
            Response::new(Full::from(review.to_string()))
        });
        let server = server.await;
        Self { server, reviews }
    }

    /// Writes a kubeconfig that describes the webhook.
    fn kubeconfig(&self, home: &Home) -> PathBuf {
        let authority = home.path().join("reviewer.crt");
        std::fs::write(&authority, self.server.certificate()).unwrap();
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {
                "server": format!("{}/review", self.server.url()), "certificate-authority": authority,
            }}],
            "users": [{"name": "u", "user": {}}],
        });
        let file = home.path().join("reviewer.kubeconfig");
        std::fs::write(&file, config.to_string()).unwrap();
        file
    }

    /// Returns and clears the recorded reviews.
    fn take_reviews(&self) -> Vec<Value> {
        std::mem::take(&mut self.reviews.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn started(home: &Home, flags: &[&str]) -> (Server, Connection) {
    let binary = Binary::Planesmith.path().unwrap();
    let flags = [&["--storage=memory"], flags].concat();
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

async fn get_as(connection: &Connection, user: &str, path: &str) -> Answer {
    call_as(connection, user, "dev", Method::GET, path, Bytes::new()).await
}

/// Writes a chain with the webhook, which is asked under `condition`, and with roles behind it.
fn write_chain(path: &Path, kubeconfig: &Path, condition: &str) {
    write_chain_with_policy(path, kubeconfig, condition, "NoOpinion");
}

fn write_chain_with_policy(path: &Path, kubeconfig: &Path, condition: &str, policy: &str) {
    let webhook = json!({
        "timeout": "3s",
        "subjectAccessReviewVersion": "v1",
        "matchConditionSubjectAccessReviewVersion": "v1",
        "failurePolicy": policy,
        "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": kubeconfig},
        "matchConditions": [{"expression": condition}],
    });
    let chain = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AuthorizationConfiguration",
        "authorizers": [
            {"type": "Webhook", "name": "reviewer.example.com", "webhook": webhook},
            {"type": "RBAC", "name": "rbac"},
        ],
    });
    std::fs::write(path, chain.to_string()).unwrap();
}

#[tokio::test]
async fn a_webhook_of_a_chain_decides_while_it_is_reachable() {
    let home = Home::new().unwrap();
    let mut reviewer = Reviewer::start().await;
    let (kubeconfig, chain) = (reviewer.kubeconfig(&home), home.path().join("chain.json"));
    write_chain(&chain, &kubeconfig, "request.user != 'eve'");
    let (server, connection) = started(&home, &[&format!("--authorization-config={}", chain.display())]).await;

    let selected = format!("{CONFIG_MAPS}?labelSelector=app%3Dx");
    let listed = get_as(&connection, "carol", &selected).await;
    assert_eq!(listed.status, 200, "{}", listed.excerpt());
    let reviews = reviewer.take_reviews();
    assert_eq!(reviews.len(), 1, "{reviews:?}");
    assert_eq!(reviews[0]["apiVersion"], "authorization.k8s.io/v1");
    let requirements = json!([{"key": "app", "operator": "In", "values": ["x"]}]);
    assert_eq!(
        reviews[0]["spec"],
        json!({
            "user": "carol", "groups": ["dev", "system:authenticated"],
            "resourceAttributes": {
                "verb": "list", "version": "v1", "resource": "configmaps", "namespace": "default",
                "labelSelector": {"requirements": requirements},
            },
        })
    );
    let again = get_as(&connection, "carol", &selected).await;
    assert_eq!(
        (again.status.as_u16(), reviewer.take_reviews().len()),
        (200, 0),
        "cached"
    );

    let refused = get_as(&connection, "carol", SECRETS).await;
    assert_eq!(refused.status, 403);
    assert!(message(&refused).ends_with(": never secrets"), "{}", message(&refused));
    assert_eq!(get_as(&connection, "eve", CONFIG_MAPS).await.status, 403);
    let reviews = reviewer.take_reviews();
    assert!(
        reviews.iter().all(|review| review["spec"]["user"] != "eve"),
        "{reviews:?}"
    );
    // Roles decide where the webhook has no opinion.
    assert_eq!(get_as(&connection, "carol", "/api").await.status, 200);

    reviewer.server.stop().await;
    let unknown = get_as(&connection, "dave", CONFIG_MAPS).await;
    assert_eq!(unknown.status, 500);
    assert!(
        unknown.excerpt().contains("the action cannot be reviewed"),
        "{}",
        unknown.excerpt()
    );
    assert!(
        !unknown.excerpt().contains(&reviewer.server.port().to_string()),
        "the address is not for clients"
    );
    assert_eq!(get_as(&connection, "dave", "/api").await.status, 200, "roles decide");
    assert_eq!(get_as(&connection, "carol", &selected).await.status, 200, "cached");
    reviewer.server.restart().await;
    assert_eq!(get_as(&connection, "dave", CONFIG_MAPS).await.status, 200);

    // A file that is not valid changes nothing, the next one takes effect.
    std::fs::write(&chain, "{}").unwrap();
    let begin = Instant::now();
    while !server.log().contains("the previous one remains in use") {
        assert!(begin.elapsed() < RELOADED_WITHIN, "{}", server.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(get_as(&connection, "dave", CONFIG_MAPS).await.status, 200);
    write_chain(&chain, &kubeconfig, "request.user == 'eve'");
    while get_as(&connection, "eve", CONFIG_MAPS).await.status != 200 {
        assert!(begin.elapsed() < RELOADED_WITHIN, "{}", server.log());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(get_as(&connection, "dave", CONFIG_MAPS).await.status, 403);

    let metrics = connection.get("/metrics").await.unwrap();
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for series in [
        r#"apiserver_authorization_decisions_total{decision="allowed",name="reviewer.example.com",type="Webhook"}"#,
        r#"apiserver_authorization_decisions_total{decision="denied",name="reviewer.example.com",type="Webhook"}"#,
        r#"apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"}"#,
        r#"apiserver_authorization_webhook_evaluations_total{name="reviewer.example.com",result="success"}"#,
        r#"apiserver_authorization_webhook_evaluations_fail_open_total{name="reviewer.example.com",result="error"}"#,
        r#"apiserver_authorization_match_condition_exclusions_total{name="reviewer.example.com",type="Webhook"}"#,
    ] {
        assert!(metrics.contains(series), "{series}");
    }
    for status in ["success", "failure"] {
        let reloads = format!(r#"status="{status}""#);
        let mut lines = metrics.lines();
        let name = "apiserver_authorization_config_controller_automatic_reloads_total";
        let counted = lines.any(|line| line.starts_with(name) && line.contains(&reloads) && !line.ends_with(" 0"));
        assert!(counted, "{status}");
    }
}

#[tokio::test]
async fn a_webhook_with_the_policy_deny_refuses_while_it_is_unreachable() {
    let home = Home::new().unwrap();
    let mut reviewer = Reviewer::start().await;
    let (kubeconfig, chain) = (reviewer.kubeconfig(&home), home.path().join("chain.json"));
    write_chain_with_policy(&chain, &kubeconfig, "request.user != 'eve'", "Deny");
    let (_server, connection) = started(&home, &[&format!("--authorization-config={}", chain.display())]).await;
    assert_eq!(get_as(&connection, "carol", "/api").await.status, 200, "roles decide");

    reviewer.server.stop().await;
    let refused = get_as(&connection, "dave", "/api").await;
    assert_eq!(refused.status, 500);
    assert!(
        refused.excerpt().contains("the action cannot be reviewed"),
        "{}",
        refused.excerpt()
    );
    assert_eq!(get_as(&connection, "eve", "/api").await.status, 200, "it is not asked");
}

#[tokio::test]
async fn the_webhook_of_the_flags_receives_the_older_version() {
    let home = Home::new().unwrap();
    let reviewer = Reviewer::start().await;
    let file = format!(
        "--authorization-webhook-config-file={}",
        reviewer.kubeconfig(&home).display()
    );
    let flags = [
        "--authorization-mode=RBAC,Webhook",
        &file,
        "--authorization-webhook-cache-authorized-ttl=0s",
    ];
    let (_server, connection) = started(&home, &flags).await;
    for _ in 0..2 {
        assert_eq!(get_as(&connection, "carol", CONFIG_MAPS).await.status, 200);
        let reviews = reviewer.take_reviews();
        assert_eq!(reviews.len(), 1, "permissions are not cached");
        assert_eq!(reviews[0]["apiVersion"], "authorization.k8s.io/v1beta1");
        assert_eq!(reviews[0]["spec"]["group"], json!(["dev", "system:authenticated"]));
    }
    for reviews in [1, 0] {
        assert_eq!(get_as(&connection, "carol", SECRETS).await.status, 403);
        assert_eq!(reviewer.take_reviews().len(), reviews, "refusals are cached");
    }
    // The default roles decide before the webhook.
    assert_eq!(get_as(&connection, "carol", "/api").await.status, 200);
    assert_eq!(reviewer.take_reviews().len(), 0);
    let rules = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}});
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let rules = call_as(
        &connection,
        "carol",
        "dev",
        Method::POST,
        path,
        rules.to_string().into(),
    )
    .await;
    let status = &rules.json().unwrap()["status"];
    assert_eq!(status["incomplete"], true);
    assert_eq!(
        status["evaluationError"],
        "webhook authorizer does not support user rule resolution"
    );
}
