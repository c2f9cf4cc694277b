//! The commands about a whole store: `planesmith store ...`.

mod backup;
mod copy;
mod damage;
mod encryption;
mod etcd_member;
mod kubernetes_data;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use http::Method;
use planesmith_e2e::{Connection, Home, Server};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::objects::{CONFIG_MAPS, config_map};

/// The time limit for a command, far above the usual duration.
const DONE_WITHIN: Duration = Duration::from_secs(120);

/// Starts `binary store ARGUMENTS`.
fn start(binary: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(binary);
    command.arg("store").args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

/// Runs `binary store ARGUMENTS` to its end.
async fn finish(binary: &Path, arguments: &[&str]) -> Output {
    let child = start(binary, arguments);
    let output = tokio::time::timeout(DONE_WITHIN, child.wait_with_output()).await;
    output
        .unwrap_or_else(|_| panic!("store {arguments:?} does not end"))
        .unwrap()
}

/// Runs a command that succeeds. Returns what it printed.
async fn run(binary: &Path, arguments: &[&str]) -> String {
    let output = finish(binary, arguments).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "store {arguments:?}: {}\n{out}\n{error}",
        output.status
    );
    out
}

/// Runs a command that exits with `code`. Returns what it printed, errors last.
async fn fails(binary: &Path, arguments: &[&str], code: i32) -> String {
    let output = finish(binary, arguments).await;
    let all = [output.stdout, output.stderr].concat();
    let all = String::from_utf8_lossy(&all).into_owned();
    assert_eq!(output.status.code(), Some(code), "store {arguments:?}: {all}");
    all
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits until `path` exists.
async fn appears(path: &Path) {
    let waiting = async {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let appeared = tokio::time::timeout(DONE_WITHIN, waiting).await;
    appeared.unwrap_or_else(|_| panic!("{} does not appear", path.display()));
}

async fn stop(mut server: Server) {
    server.terminate().await.unwrap();
    assert!(server.ended().await.unwrap().success());
}

/// Creates `count` config maps of `bytes` bytes each.
async fn fill(connection: &Connection, count: usize, bytes: usize) {
    for number in 0..count {
        let body = config_map(&format!("filler-{number}"), &"x".repeat(bytes));
        let answer = connection.call(Method::POST, CONFIG_MAPS, body).await.unwrap();
        answer.expect(201).unwrap();
    }
}

/// A definition, and objects of it and of built-in kinds.
async fn create_samples(connection: &Connection) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.sky.example.com"},
        "spec": {
            "group": "sky.example.com", "scope": "Namespaced",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "labels": {"a": "b"}}, "data": {"k": "AAEC"}});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1", "resources": {"limits": {"cpu": "100m"}}}]}}},
    });
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"type": "NodePort", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    });
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "seen"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"}, "reason": "Seen", "type": "Normal",
    });
    for (path, object) in [
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition),
        ("/api/v1/namespaces/default/secrets", secret),
        ("/apis/apps/v1/namespaces/default/deployments", deployment),
        ("/api/v1/namespaces/default/services", service),
        ("/api/v1/namespaces/default/events", event),
    ] {
        let made = connection.call(Method::POST, path, object.to_string()).await.unwrap();
        made.expect(201).unwrap();
    }
    let kites = "/apis/sky.example.com/v1/namespaces/default/kites";
    let kite = json!({"apiVersion": "sky.example.com/v1", "kind": "Kite", "metadata": {"name": "red"}, "spec": {"z": [1.5, null], "a": "ü"}});
    let made = async {
        loop {
            let made = connection.call(Method::POST, kites, kite.to_string()).await.unwrap();
            if made.status == 201 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(DONE_WITHIN, made)
        .await
        .expect("the definition is served");
}

/// The lists that a copy of a store has to have. Objects that a server maintains for itself are left out.
const LISTS: [&str; 8] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces/default/events",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/sky.example.com/v1/namespaces/default/kites",
    "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
];

/// All objects of the lists by path, without their resourceVersions, and these beside them.
async fn objects(connection: &Connection) -> BTreeMap<String, (Value, u64)> {
    let mut all = BTreeMap::new();
    for list in LISTS {
        let listing = async {
            loop {
                let answer = connection.get(list).await.unwrap();
                if answer.status == 200 {
                    return answer.json().unwrap();
                }
                // Custom kinds are served soon after the start.
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let found = tokio::time::timeout(DONE_WITHIN, listing)
            .await
            .unwrap_or_else(|_| panic!("{list} is not served"));
        for mut item in found["items"].as_array().cloned().unwrap_or_default() {
            let revision = crate::objects::revision(&item);
            let name = crate::objects::name(&item).to_owned();
            item["metadata"]["resourceVersion"] = Value::Null;
            all.insert(format!("{list}/{name}"), (item, revision));
        }
    }
    all
}

/// The same without the resourceVersions, without reports of allocations that a server makes anew (in etcd they are objects), and
/// without the authority, which belongs to a data folder.
fn contents(objects: &BTreeMap<String, (Value, u64)>) -> BTreeMap<&str, &Value> {
    objects
        .iter()
        .filter(|(_, (object, _))| object["reportingComponent"] != "portallocator-repair-controller")
        .filter(|(path, _)| !path.ends_with("/kube-root-ca.crt"))
        .map(|(path, (object, _))| (path.as_str(), object))
        .collect()
}

/// The revision of a list.
async fn newest(connection: &Connection) -> u64 {
    crate::objects::revision(&connection.get_json(CONFIG_MAPS).await.unwrap())
}

/// The answer to a watch that resumes after `revision`: its status, or the code of the error event.
async fn resumed(connection: &Connection, revision: u64) -> u64 {
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={revision}&timeoutSeconds=1");
    let answer = connection.get(&path).await.unwrap();
    if answer.status != 200 {
        return answer.status.as_u16().into();
    }
    let first = answer.body.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let event: Value = serde_json::from_slice(first).unwrap_or_default();
    match event["type"] == "ERROR" {
        true => event["object"]["code"].as_u64().unwrap_or_default(),
        false => 200,
    }
}

/// Runs kubectl with the administrator's kubeconfig of `home`. Returns what it printed.
async fn kubectl(home: &Home, arguments: &[&str]) -> String {
    let mut command = Command::new("kubectl");
    command.arg("--kubeconfig").arg(home.kubeconfig()).args(arguments);
    command.env("HOME", home.path()).stdin(Stdio::null());
    let output = command.output().await.unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The file that the tests back up to.
fn backup_file(home: &Home) -> PathBuf {
    home.path().join("store.backup")
}
