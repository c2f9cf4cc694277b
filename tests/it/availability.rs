//! Health checks while clients keep the server busy with legal requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Binary, Connection, Home};
use serde_json::{Value, json};

/// The time limit for serving a definition.
const TIMEOUT: Duration = Duration::from_secs(60);

const KITES: &str = "/apis/example.com/v1/kites";

/// Returns a definition of kites whose specs have the schema `spec`.
fn definition(spec: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec}}}}],
        },
    })
}

async fn define(connection: &Connection, spec: &Value) -> Result<()> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = connection.call(Method::POST, path, definition(spec).to_string());
    made.await?.expect(201)?;
    let served = async {
        while connection.get(KITES).await?.status != 200 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    };
    tokio::time::timeout(TIMEOUT, served).await?
}

/// Starts a server with kites, and sends `requests` concurrent kites with the spec `load`. Checks that health checks and the
/// heartbeat of a node succeed while most of the kites are in progress: a server that processed all of them first would have
/// finished them.
async fn stays_available(definition: &Value, load: &Value, requests: usize) -> Result<()> {
    let home = Home::new()?;
    let server = home.start(&Binary::Planesmith.path()?, &["--storage=memory"]).await?;
    let health = server.connect().await?;
    define(&health, definition).await?;
    let finished = Arc::new(AtomicUsize::new(0));
    let busy = server.connect().await?;
    let kite = json!({"apiVersion": "example.com/v1", "kind": "Kite", "metadata": {"generateName": "k"}, "spec": load});
    let kite = Bytes::from(kite.to_string());
    let mut sent = Vec::new();
    for _ in 0..requests {
        let request = busy
            .request(Method::POST, KITES)
            .header("content-type", "application/json");
        let request = request.body(kite.clone().into())?;
        let (connection, finished) = (busy.clone(), Arc::clone(&finished));
        sent.push(tokio::spawn(async move {
            let answer = connection.finish(request).await;
            finished.fetch_add(1, Ordering::Relaxed);
            answer
        }));
    }
    // A small request after the others on their connection: its response shows that the server has received all of them.
    busy.get("/version").await?.expect(200)?;
    for path in ["/readyz", "/livez", "/healthz"] {
        health.get(path).await?.expect(200)?;
    }
    let lease = json!({"metadata": {"name": "node"}, "spec": {"holderIdentity": "node"}});
    let leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
    health
        .call(Method::POST, leases, lease.to_string())
        .await?
        .expect(201)?;
    let finished = finished.load(Ordering::Relaxed);
    assert!(finished < requests / 2, "{finished} of {requests} are answered");
    for request in sent {
        request.abort();
    }
    server.kill().await
}

#[tokio::test]
async fn expensive_rules_delay_no_health_check() -> Result<()> {
    let spec = json!({"type": "object",
        "properties": {"names": {"type": "array", "maxItems": 500, "items": {"type": "string", "maxLength": 10}}},
        "x-kubernetes-validations": [{"rule": "self.names.all(a, self.names.all(b, a <= b || a > b))"}]});
    let names: Vec<String> = (0..300).map(|number| format!("n{number}")).collect();
    stays_available(&spec, &json!({"names": names}), 20).await
}

#[tokio::test]
async fn patterns_of_many_states_delay_no_health_check() -> Result<()> {
    let spec = json!({"type": "object", "properties": {
        "text": {"type": "string", "pattern": "([a-y]{1,20}[b-z]{1,20}){1,20}0$"}}});
    stays_available(&spec, &json!({"text": "xyz".repeat(5_000)}), 90).await
}
