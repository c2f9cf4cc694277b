//! The data of a kube-apiserver in etcd, served by this program.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use http::Method;
use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Home};
use planesmith_machinery::go_base64;
use serde_json::{Value, json};

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

/// The objects at `paths`, without their resourceVersions; an object that is not served has the status.
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

/// The annotation that each object gets and loses again.
const REWRITTEN: &str = "planesmith.dev/rewritten";

/// Writes each object with an annotation, and again without it.
async fn rewrite_all(connection: &Connection, wanted: &BTreeMap<String, Value>) {
    // An object is served in several versions.
    let paths: BTreeMap<&str, &String> = wanted
        .iter()
        .filter_map(|(path, object)| Some((object["metadata"]["uid"].as_str()?, path)))
        .collect();
    let mut refused = Vec::new();
    for path in paths.into_values() {
        let with = json!({"metadata": {"annotations": {REWRITTEN: "yes"}}});
        let without = match wanted[path]["metadata"]["annotations"].is_object() {
            true => json!({"metadata": {"annotations": {REWRITTEN: null}}}),
            false => json!({"metadata": {"annotations": null}}),
        };
        for patch in [with, without] {
            let media_type = "application/merge-patch+json";
            let patched = connection.call_as(media_type, Method::PATCH, path, patch.to_string());
            let patched = patched.await.unwrap();
            if patched.status != 200 {
                refused.push(format!("{path}: {}", String::from_utf8_lossy(&patched.body)));
                break;
            }
        }
    }
    // Policies among the objects refuse some definitions, and privileged containers are off.
    assert!(refused.len() < 10, "{}:\n{}", refused.len(), refused.join("\n"));
}

/// The keys in etcd with their values, and the number of writes.
async fn stored(member: &Member) -> BTreeMap<String, (Vec<u8>, u64)> {
    let printed = member.ctl(&["get", "/registry/", "--prefix", "--write-out=json"]).await;
    let answer: Value = serde_json::from_str(&printed).unwrap();
    let text = |kv: &Value, field: &str| go_base64::decode(kv[field].as_str().unwrap_or_default()).unwrap();
    let kvs = answer["kvs"].as_array().unwrap().iter();
    kvs.map(|kv| {
        let key = String::from_utf8(text(kv, "key")).unwrap();
        (key, (text(kv, "value"), kv["version"].as_u64().unwrap()))
    })
    .collect()
}

/// Kinds that kube-apiserver changes, too, when it writes what it has read: defaults that were added after the objects were stored,
/// and a generation that counts changes of annotations.
const CHANGED: [&str; 3] = ["/deployments/", "/jobs/", "/persistentvolumeclaims/"];

/// Checks that the keys that were written again have the bytes that kube-apiserver wrote: whatever these are, it can read them.
fn check_rewritten(stored: &BTreeMap<String, (Vec<u8>, u64)>, keys: &[Value]) {
    let mut same = 0;
    for key in keys {
        let name = key["key"].as_str().unwrap();
        if MAINTAINED.iter().any(|part| name.contains(part)) {
            continue;
        }
        let before = go_base64::decode(key["value"].as_str().unwrap()).unwrap();
        let (after, version) = &stored[name];
        // It was refused, or there is no path for it among the answers.
        if *version < 3 {
            continue;
        }
        match *after == before {
            true => same += 1,
            false => assert!(
                CHANGED.iter().any(|part| name.contains(part)) && after[..4] == before[..4],
                "{name} was {:?} and is {:?}",
                String::from_utf8_lossy(&before),
                String::from_utf8_lossy(after)
            ),
        }
    }
    assert!(same > 250, "{same} objects have the same bytes");
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
        member.put(key["key"].as_str().unwrap(), &value).await;
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

    rewrite_all(&connection, &wanted).await;
    check_rewritten(&stored(&member).await, &keys);
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
