//! SIGTERM: running requests complete, new ones are refused, and the process exits successfully.

use http::Method;
use http::header::CONTENT_TYPE;
use planesmith_e2e::body::RequestBody;
use planesmith_e2e::{Binary, Connection, Endpoint, Home};

use crate::objects::{CONFIG_MAPS, config_map, name};

/// The leases of servers.
const SERVER_LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases\
                             ?labelSelector=apiserver.kubernetes.io/identity";

/// Waits until `/readyz` no longer returns 200, either because it fails or because it is unreachable.
async fn not_ready(endpoint: &Endpoint) {
    while let Ok(connection) = Connection::open(endpoint).await {
        match connection.get("/readyz").await {
            Ok(answer) if answer.status == 200 => {}
            _ => return,
        }
    }
}

#[tokio::test]
async fn a_terminated_server_finishes_what_runs() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let mut server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let mut watch = connection
        .watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=0"))
        .await
        .unwrap();

    // A create of which only half the body has arrived at the time of the signal.
    let body = config_map("half-way", "whole");
    let (first, rest) = body.split_at(body.len() / 2);
    let (pieces, request_body) = RequestBody::pieces();
    let request = connection
        .request(Method::POST, CONFIG_MAPS)
        .header(CONTENT_TYPE, "application/json");
    let request = request.body(request_body).unwrap();
    let running = {
        let connection = connection.clone();
        tokio::spawn(async move { connection.finish(request).await })
    };
    pieces.send(first.to_vec().into()).await.unwrap();
    // A response on the same connection shows that the server has received the request before.
    assert_eq!(connection.get("/readyz").await.unwrap().status, 200);

    server.terminate().await.unwrap();
    not_ready(server.endpoint()).await;
    assert!(!running.is_finished(), "the running request was cut off");
    pieces.send(rest.to_vec().into()).await.unwrap();
    drop(pieces);
    let answer = running.await.unwrap().unwrap();
    assert_eq!(answer.status, 201, "{}", answer.excerpt());

    // The watch must end cleanly: an error here would be a stream cut in the middle.
    while watch.line().await.unwrap().is_some() {}
    let status = server.ended().await.unwrap();
    assert!(status.success(), "{status}\n{}", home.log());

    let server = home.start(&binary, &[]).await.unwrap();
    let kept = server
        .connect()
        .await
        .unwrap()
        .get(&format!("{CONFIG_MAPS}/half-way"))
        .await
        .unwrap();
    assert_eq!(name(&kept.json().unwrap()), "half-way");
}

#[tokio::test]
async fn an_idle_server_ends_at_once_when_terminated() {
    let home = Home::new().unwrap();
    let mut server = home.start(&Binary::Planesmith.path().unwrap(), &[]).await.unwrap();
    server.terminate().await.unwrap();
    let status = server.ended().await.unwrap();
    assert!(status.success(), "{status}\n{}", home.log());
}

/// Returns the leases of servers.
async fn server_leases(connection: &Connection) -> serde_json::Value {
    connection.get_json(SERVER_LEASES).await.unwrap()
}

#[tokio::test]
async fn the_lease_of_a_server_lives_as_long_as_its_process() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let first = server_leases(&server.connect().await.unwrap()).await;
    server.kill().await.unwrap();

    let mut server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let second = server_leases(&connection).await;
    let (first, lease) = (&first["items"][0], &second["items"][0]);
    assert_eq!(first["metadata"]["name"], lease["metadata"]["name"]);
    assert_ne!(first["metadata"]["uid"], lease["metadata"]["uid"]);

    let version = second["metadata"]["resourceVersion"].as_str().unwrap();
    let path = format!("{SERVER_LEASES}&watch=1&resourceVersion={version}");
    let mut watch = connection.watch(&path).await.unwrap();
    server.terminate().await.unwrap();
    let mut last = serde_json::Value::Null;
    while let Some(event) = watch.event().await.unwrap() {
        last = event;
    }
    assert_eq!(last["type"], "DELETED", "{last}");
    server.ended().await.unwrap();
}
