//! The endpoints of the service through which pods reach the server.

use std::time::Duration;

use planesmith_e2e::{Binary, Connection, Home};
use serde_json::{Value, json};

const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints/kubernetes";
const SLICE: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
const SERVICE: &str = "/api/v1/namespaces/default/services/kubernetes";

/// The time limit for a change to be visible.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn addresses(connection: &Connection) -> Vec<Value> {
    let answer = connection.get(ENDPOINTS).await.unwrap();
    let endpoints = answer.json().unwrap();
    let addresses = endpoints["subsets"][0]["addresses"].as_array();
    addresses
        .into_iter()
        .flatten()
        .map(|address| address["ip"].clone())
        .collect()
}

/// Waits until the endpoints equal `wanted`.
async fn shows(connection: &Connection, wanted: &[&str]) {
    let shown = async {
        while addresses(connection).await != wanted {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let shown = tokio::time::timeout(TIMEOUT, shown).await;
    assert!(shown.is_ok(), "{:?} instead of {wanted:?}", addresses(connection).await);
}

#[tokio::test]
async fn a_server_is_behind_its_service_only_while_it_is_ready() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let flags = ["--advertise-address=192.0.2.7"];
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    shows(&connection, &["192.0.2.7"]).await;
    server.kill().await.unwrap();

    // The killed server could not remove its address; the next start does.
    let mut server = home.spawn(&binary, &flags).unwrap();
    let connection = server.listening().await.unwrap();
    let mut is_past_bootstrap = false;
    loop {
        let endpoints = addresses(&connection).await;
        let checks = connection.get("/readyz?verbose").await.unwrap();
        if checks.status == 200 {
            break;
        }
        // If the old address had been removed before this read, and the server was still not ready after it.
        assert!(
            !is_past_bootstrap || endpoints.is_empty(),
            "{endpoints:?} while not ready"
        );
        is_past_bootstrap = checks.excerpt().contains("[+]poststarthook/bootstrap-controller ok");
    }
    shows(&connection, &["192.0.2.7"]).await;
    server.kill().await.unwrap();

    // A server that is unreachable for other machines publishes no endpoint, and removes existing ones.
    let server = home.start(&binary, &["--advertise-address=127.0.0.1"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    shows(&connection, &[]).await;
    // The server removes the slice after the addresses.
    let removed = async {
        while connection.get(SLICE).await.unwrap().status != 404 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let removed = tokio::time::timeout(TIMEOUT, removed).await;
    assert!(removed.is_ok(), "the slice is still there");
    assert_eq!(connection.get(SERVICE).await.unwrap().status, 200);
}

#[tokio::test]
async fn the_service_has_a_port_of_all_nodes_when_it_is_told_to() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    for (flags, wanted) in [
        (&[][..], json!(["ClusterIP", null])),
        (&["--kubernetes-service-node-port=30443"], json!(["NodePort", 30443])),
        (&[], json!(["ClusterIP", null])),
    ] {
        let server = home.start(&binary, flags).await.unwrap();
        let connection = server.connect().await.unwrap();
        let service = connection.get_json(SERVICE).await.unwrap();
        let spec = &service["spec"];
        assert_eq!(json!([spec["type"], spec["ports"][0]["nodePort"]]), wanted, "{flags:?}");
        let log = server.log();
        let first = log.lines().next().unwrap();
        assert!(
            first.contains("starting") && first.contains("kubernetes=\"v1.36"),
            "{first}"
        );
        assert!(first.contains("runtime=\"rustc 1."), "{first}");
        server.kill().await.unwrap();
    }
}
