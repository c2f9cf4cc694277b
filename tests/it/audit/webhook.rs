//! Events for another server.

use std::time::{Duration, Instant};

use planesmith_e2e::{Binary, Home};
use serde_json::Value;

use super::{TIMEOUT, policy};
use crate::peer::Peer;

/// The events that a peer has received, by their request.
fn ids(peer: &Peer) -> Vec<String> {
    let lists = peer.received();
    let events = lists.iter().flat_map(|list| list["items"].as_array().unwrap());
    let complete = events.filter(|event| event["stage"] == "ResponseComplete");
    complete
        .filter_map(|event| event["requestURI"].as_str().map(str::to_owned))
        .collect()
}

async fn wait_for(peer: &Peer, uri: &str) {
    let begin = Instant::now();
    while !ids(peer).iter().any(|received| received == uri) {
        assert!(begin.elapsed() < TIMEOUT, "{uri} is missing: {:?}", ids(peer));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn events_are_repeated_until_the_webhook_is_back() {
    let mut peer = Peer::start().await;
    let home = Home::new().unwrap();
    let kubeconfig = peer.write_kubeconfig(home.path(), "/audit");
    let flags = [
        "--storage=memory",
        "--controllers=-*",
        &policy(&home, "Metadata"),
        &format!("--audit-webhook-config-file={}", kubeconfig.display()),
        "--audit-webhook-batch-max-wait=10ms",
        "--audit-webhook-initial-backoff=200ms",
    ];
    let mut server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    connection.get("/version?before").await.unwrap().expect(200).unwrap();
    wait_for(&peer, "/version?before").await;
    let lists: Vec<Value> = peer.received();
    assert_eq!(
        (&lists[0]["kind"], &lists[0]["apiVersion"]),
        (&"EventList".into(), &"audit.k8s.io/v1".into())
    );

    peer.stop().await;
    connection
        .get("/version?while-it-is-away")
        .await
        .unwrap()
        .expect(200)
        .unwrap();
    peer.restart().await;
    wait_for(&peer, "/version?while-it-is-away").await;

    // The end of the server delivers what waits for its batch.
    connection
        .get("/version?at-the-end")
        .await
        .unwrap()
        .expect(200)
        .unwrap();
    drop(connection);
    server.terminate().await.unwrap();
    assert!(server.ended().await.unwrap().success());
    let received = ids(&peer);
    assert!(received.iter().any(|uri| uri == "/version?at-the-end"), "{received:?}");
    let once = received.iter().filter(|uri| uri.starts_with("/version?while")).count();
    assert_eq!(once, 1);
}
