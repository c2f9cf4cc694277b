//! Values that kube-apiserver has encrypted in etcd.

use std::path::Path;

use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Home};
use planesmith_machinery::go_base64;
use serde_json::{Value, json};

use super::wait_for;
use crate::store::etcd_member::Member;
use crate::store::{fails, run, stop};

const TEST: &str = "values_of_a_kube_apiserver_are_read_and_written_again_in_its_envelope";

#[tokio::test]
async fn values_of_a_kube_apiserver_are_read_and_written_again_in_its_envelope() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/etcd");
    let Ok(values) = std::fs::read_to_string(folder.join("encrypted.jsonl")) else {
        return skip(TEST, "there is no reference data at ../shared/kubernetes/etcd");
    };
    let Some(member) = Member::start(TEST).await else {
        return;
    };
    let values: Vec<Value> = values.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for value in &values {
        let stored = go_base64::decode(value["value"].as_str().unwrap()).unwrap();
        member.put(value["key"].as_str().unwrap(), &stored).await;
    }
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let flag = format!(
        "--encryption-provider-config={}",
        folder.join("encryption.yaml").display()
    );
    let etcd = format!("--etcd-servers={}", member.url);
    let server = home.start(&binary, &[&etcd, &flag, "--controllers=-*"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.enc.example.com"},
        "spec": {
            "group": "enc.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = connection
        .call(Method::POST, definitions, definition.to_string())
        .await
        .unwrap();
    made.expect(201).unwrap();
    for value in &values {
        let (key, path) = (value["key"].as_str().unwrap(), value["path"].as_str().unwrap());
        wait_for("the definition", || async {
            connection.get(path).await.unwrap().status == 200
        })
        .await;
        let mut found = connection.get_json(path).await.unwrap();
        let same = found.to_string();
        let mut expected = value["object"].clone();
        for object in [&mut found, &mut expected] {
            object["metadata"]["resourceVersion"] = Value::Null;
        }
        assert_eq!(found, expected, "{key}");
        // The first provider writes, even if nothing changes.
        connection
            .call(Method::PUT, path, same)
            .await
            .unwrap()
            .expect(200)
            .unwrap();
        let stored = member.get(key).await;
        assert!(stored.starts_with(b"k8s:enc:aesgcm:v1:key1:"), "{key}");
    }
    stop(server).await;

    let copied = Home::new().unwrap();
    let from = format!("etcd:{}", member.url);
    let to = format!("sled:{}", copied.data().display());
    let printed = fails(&binary, &["copy", "--from", &from, "--to", &to], 1).await;
    assert!(
        printed.contains("is encrypted; add --encryption-provider-config"),
        "{printed}"
    );
    run(&binary, &["copy", "--from", &from, "--to", &to, &flag]).await;
    let server = copied.start(&binary, &[&flag, "--controllers=-*"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    for value in &values {
        let path = value["path"].as_str().unwrap();
        wait_for("the definition", || async {
            connection.get(path).await.unwrap().status == 200
        })
        .await;
        let found = connection.get_json(path).await.unwrap();
        assert_eq!(found["metadata"]["uid"], value["object"]["metadata"]["uid"]);
    }
    stop(server).await;
}
