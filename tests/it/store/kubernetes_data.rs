//! The data of a kube-apiserver in etcd, served by this program.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Home};
use planesmith_machinery::go_base64;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::etcd_member::Member;
use super::{run, stop};

const TEST: &str = "the_data_of_a_kube_apiserver_is_served_as_it_answered_and_moves_to_a_folder";

/// Parts of paths whose objects a server reconciles or maintains while it runs: they differ from those of another server at
/// another time.
const MAINTAINED: [&str; 7] = [
    "/apiservices/",
    "/clusterroles/system:",
    "/componentstatuses/",
    "/configmaps/extension-apiserver-authentication",
    "/events/",
    "/leases/",
    "/services/kubernetes",
];

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Stores a value, which may be binary.
async fn put(member: &Member, key: &str, value: &[u8]) {
    let mut command = Command::new("etcdctl");
    command
        .env("ETCDCTL_API", "3")
        .arg(format!("--endpoints={}", member.url))
        .args(["put", key]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(value).await.unwrap();
    drop(input);
    assert!(child.wait().await.unwrap().success(), "{key}");
}

/// The objects at `paths`, without their resourceVersions; what is not served has the status.
async fn served(connection: &Connection, paths: impl Iterator<Item = &str>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for path in paths {
        let answer = connection.get(path).await.unwrap();
        all.insert(path.to_owned(), without_revision(answer.json().unwrap()));
    }
    all
}

fn without_revision(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    object
}

fn differences(wanted: &BTreeMap<String, Value>, found: &BTreeMap<String, Value>) -> Vec<String> {
    let differs = wanted.iter().filter(|(path, object)| found.get(*path) != Some(object));
    differs
        .map(|(path, object)| format!("{path}\n  wanted {object}\n  found  {}", found[path]))
        .collect()
}

#[tokio::test]
async fn the_data_of_a_kube_apiserver_is_served_as_it_answered_and_moves_to_a_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/etcd");
    if !folder.is_dir() {
        return skip(TEST, "there is no reference data at ../shared/kubernetes/etcd");
    }
    let Some(member) = Member::start(TEST).await else {
        return;
    };
    let mut keys = lines(&folder.join("keys.jsonl"));
    keys.sort_by_key(|key| key["modRevision"].as_u64());
    for key in &keys {
        let value = go_base64::decode(key["value"].as_str().unwrap()).unwrap();
        put(&member, key["key"].as_str().unwrap(), &value).await;
    }
    let answers = lines(&folder.join("answers.jsonl"))
        .into_iter()
        .filter_map(|mut answer| {
            let path = answer["path"].as_str()?.to_owned();
            let is_maintained = MAINTAINED.iter().any(|part| path.contains(part));
            (!is_maintained).then(|| (path, without_revision(answer["object"].take())))
        });
    let wanted: BTreeMap<String, Value> = answers.collect();
    assert!(wanted.len() > 250, "{} objects", wanted.len());

    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let etcd = format!("etcd:{}", member.url);
    let flags = [&*format!("--etcd-servers={}", member.url), "--controllers=-*"];
    let server = home.start(&binary, &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    // Custom kinds are served soon after the start.
    let custom = wanted.keys().find(|path| path.starts_with("/apis/test.com/")).unwrap();
    while connection.get(custom).await.unwrap().status != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let found = served(&connection, wanted.keys().map(String::as_str)).await;
    let differing = differences(&wanted, &found);
    assert!(
        differing.is_empty(),
        "{} of {}:\n{}",
        differing.len(),
        wanted.len(),
        differing.join("\n")
    );

    // Rewritten in kube-apiserver's encoding.
    let map = wanted.keys().find(|path| path.contains("/configmaps/")).unwrap();
    let patch = json!({"metadata": {"annotations": {"rewritten": "yes"}}}).to_string();
    let patched = connection
        .call_as("application/merge-patch+json", Method::PATCH, map, patch)
        .await
        .unwrap();
    patched.expect(200).unwrap();
    let (namespace, name) = map
        .trim_start_matches("/api/v1/namespaces/")
        .split_once("/configmaps/")
        .unwrap();
    let key = format!("/registry/configmaps/{namespace}/{name}");
    let stored = member.ctl(&["get", &key, "--print-value-only"]).await;
    assert!(
        stored.starts_with("k8s\0") && stored.contains("rewritten"),
        "{key}: {stored:?}"
    );
    let found = served(&connection, wanted.keys().map(String::as_str)).await;
    stop(server).await;

    let copied = Home::new().unwrap();
    let printed = run(
        &binary,
        &[
            "copy",
            "--from",
            &etcd,
            "--to",
            &format!("sled:{}", copied.data().display()),
        ],
    )
    .await;
    assert!(printed.contains("each was compared"), "{printed}");
    let server = copied.start(&binary, &["--controllers=-*"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    while connection.get(custom).await.unwrap().status != 200 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let differing = differences(&found, &served(&connection, wanted.keys().map(String::as_str)).await);
    assert!(differing.is_empty(), "{}:\n{}", differing.len(), differing.join("\n"));
}
