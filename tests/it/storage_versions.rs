//! The storage versions that servers report.

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Binary, Connection, Home, Watch};
use serde_json::{Value, json};

const VERSIONS: &str = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
const FLAGS: [&str; 3] = [
    "--storage=memory",
    "--runtime-config=internal.apiserver.k8s.io/v1alpha1=true",
    "--feature-gates=StorageVersionAPI=true",
];

/// The time limit for the server to detect a change.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The storage version entry of a server without a lease.
fn entry_of_stopped_server() -> Value {
    json!({
        "apiServerID": "apiserver-gone", "encodingVersion": "v0", "decodableVersions": ["v0"], "servedVersions": ["v0"],
    })
}

async fn put_status(connection: &Connection, object: &Value) {
    let path = format!("{VERSIONS}/{}/status", object["metadata"]["name"].as_str().unwrap());
    let answer = connection.call(Method::PUT, &path, object.to_string()).await.unwrap();
    answer.expect(200).unwrap();
}

async fn wait_for(watch: &mut Watch, is_wanted: impl Fn(&Value) -> bool) {
    let seen = async {
        loop {
            let event = watch.event().await.unwrap().expect("the watch goes on");
            if is_wanted(&event) {
                return;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, seen).await.expect("it changes");
}

#[tokio::test]
async fn servers_that_are_gone_are_forgotten() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &FLAGS).await.unwrap();
    let connection = server.connect().await.unwrap();
    let mut watch = connection.watch(&format!("{VERSIONS}?watch=1")).await.unwrap();

    let object = json!({
        "apiVersion": "internal.apiserver.k8s.io/v1alpha1", "kind": "StorageVersion",
        "metadata": {"name": "example.com.kites"}, "spec": {},
    });
    let made = connection
        .call(Method::POST, VERSIONS, object.to_string())
        .await
        .unwrap();
    let mut made: Value = made.expect(201).unwrap().json().unwrap();
    made["status"] = json!({"storageVersions": [entry_of_stopped_server()], "commonEncodingVersion": "v0"});
    put_status(&connection, &made).await;
    wait_for(&mut watch, |event| {
        event["type"] == "DELETED" && event["object"]["metadata"]["name"] == "example.com.kites"
    })
    .await;

    let mut pods = connection.get_json(&format!("{VERSIONS}/core.pods")).await.unwrap();
    let own = pods["status"]["storageVersions"][0].clone();
    pods["status"]["storageVersions"]
        .as_array_mut()
        .unwrap()
        .push(entry_of_stopped_server());
    pods["status"].as_object_mut().unwrap().remove("commonEncodingVersion");
    put_status(&connection, &pods).await;
    wait_for(&mut watch, |event| {
        let object = &event["object"];
        object["metadata"]["name"] == "core.pods"
            && object["status"]["storageVersions"] == json!([own])
            && object["status"]["commonEncodingVersion"] == "v1"
            && object["status"]["conditions"][0]["status"] == "True"
    })
    .await;
}
