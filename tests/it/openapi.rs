//! The served OpenAPI documents equal those of kube-apiserver, except for descriptions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Connection, Home, Server};
use serde_json::{Map, Value};

/// Flags that match the server of the reference: all group versions and their resources, CBOR, and no enumerations.
const FLAGS: [&str; 3] = [
    "--storage=memory",
    "--runtime-config=api/all=true",
    "--feature-gates=AllAlpha=true,ClusterTrustBundle=true,PodCertificateRequest=true,StorageVersionMigrator=true,OpenAPIEnums=false",
];

/// Members of the reference that only servers with log files have.
const LOGS: [&str; 3] = ["/logs/", "/logs/{logpath}", "logpath-Noq7euwC"];

/// Returns the folder of kube-apiserver's documents, next to the workspace; `None` if it is absent.
fn reference() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/openapi");
    if folder.is_dir() {
        return Some(folder);
    }
    skip("OpenAPI", "there is no reference data at ../shared/kubernetes/openapi");
    None
}

async fn serve(home: &Home, flags: &[&str]) -> (Server, Connection) {
    let server = home.start(&Binary::Planesmith.path().unwrap(), flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    (server, connection)
}

fn read(path: &Path) -> Value {
    let mut document: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    // The reference was recorded with a placeholder version.
    document["info"]["version"] = "v1.36.0".into();
    document
}

/// Removes descriptions, and unwraps references that are wrapped only for a description.
fn without_prose(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            // A property can be called `description`, too; its value is not a string.
            let kept = members
                .into_iter()
                .filter(|(name, value)| !(name == "description" && value.is_string() || LOGS.contains(&name.as_str())));
            let kept: Map<String, Value> = kept.map(|(name, value)| (name, without_prose(value))).collect();
            match kept.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
                Some([reference]) if kept.len() == 1 => reference.clone(),
                _ => kept.into(),
            }
        }
        Value::Array(items) => items.into_iter().map(without_prose).collect(),
        other => other,
    }
}

/// Collects the differences between two documents.
fn differences(served: &Value, wanted: &Value, at: &str, found: &mut Vec<String>) {
    match (served, wanted) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differences(left, right, &format!("{at} > {key}"), found),
                    (Some(_), None) => found.push(format!("{at} > {key}: only served")),
                    (None, _) => found.push(format!("{at} > {key}: missing")),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(left, right, &format!("{at}[{index}]"), found);
            }
        }
        _ if served == wanted => {}
        _ => found.push(format!("{at}: {served} is not {wanted}")),
    }
}

#[tokio::test]
async fn served_openapi_documents_are_those_of_kube_apiserver() {
    let Some(folder) = reference() else { return };
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &FLAGS).await;
    let mut documents = BTreeMap::from([("/openapi/v2".to_owned(), folder.join("v2.json"))]);
    for file in fs::read_dir(folder.join("v3")).unwrap() {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().replace("_openapi.json", "");
        if name != "logs" {
            documents.insert(format!("/openapi/v3/{}", name.replace("__", "/")), file);
        }
    }
    assert!(documents.len() > 1);
    let mut found = Vec::new();
    for (path, file) in documents {
        let served = connection.get_json(&path).await.unwrap();
        differences(&without_prose(served), &without_prose(read(&file)), &path, &mut found);
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn descriptions_have_the_words_that_clients_search_for() {
    let home = Home::new().unwrap();
    let (_server, connection) = serve(&home, &["--storage=memory"]).await;
    let document = connection.get_json("/openapi/v2").await.unwrap();
    let text = document.to_string();
    for words in [
        "list of returned",
        "List of services",
        "Watch for changes to the described resources",
    ] {
        assert!(text.contains(words), "{words}");
    }
    let of_maps = &document["definitions"]["io.k8s.api.core.v1.ConfigMap"]["properties"];
    let description = |field: &str| of_maps[field]["description"].as_str().unwrap();
    assert!(description("apiVersion").starts_with("APIVersion defines"));
    assert!(description("kind").starts_with("Kind "));
}
