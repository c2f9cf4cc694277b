//! What the server says about itself is what `cargo xtask generate` wrote for review.

use std::fs;
use std::path::{Path, PathBuf};

use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Home};
use serde_json::Value;

fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated")
}

/// The documents in `folder` with the paths that their names stand for.
fn documents(folder: &str) -> Vec<(String, Value)> {
    let files = fs::read_dir(generated().join(folder)).unwrap();
    let document = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        let path = name.trim_end_matches(".json").replace("__", "/");
        (path, serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap())
    };
    files.map(|file| document(file.unwrap())).collect()
}

/// Brings groups into the order of their names: which ones a server prefers is not known where they are defined. What the
/// server adds for other kinds to be shown is left out.
fn in_order(document: &mut Value) {
    if let Some(Value::Array(groups)) = document.get_mut("groups") {
        groups.sort_by_key(|group| group["name"].to_string());
    }
    if let Some(Value::Array(resources)) = document.get_mut("resources") {
        resources.retain(|resource| resource["name"] != "pods");
    }
}

#[tokio::test]
async fn served_documents_are_the_generated_ones() {
    let home = Home::new().unwrap();
    let server = home
        .start(&Binary::Planesmith.path().unwrap(), &["--runtime-config=api/all=true"])
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let mut differing = Vec::new();
    for (folder, root) in [("discovery", "/"), ("openapi/v3", "/openapi/v3/")] {
        let documents = documents(folder);
        assert!(!documents.is_empty(), "{folder}");
        for (path, mut expected) in documents {
            let path = format!("{root}{path}");
            let mut served = connection
                .get(&path)
                .await
                .unwrap()
                .expect(200)
                .unwrap()
                .json()
                .unwrap();
            in_order(&mut served);
            in_order(&mut expected);
            if served != expected {
                differing.push(format!("{path}:\n  served    {served}\n  generated {expected}"));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Where discovery documents of kube-apiserver are, beside the workspace.
fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/discovery")
}

/// Takes out what differs from server to server: its address, and what a document says of its own type.
fn without_place(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        for name in ["apiVersion", "kind", "metadata", "serverAddressByClientCIDRs"] {
            members.remove(name);
        }
    }
    document
}

/// Collects where two documents part.
fn differences(served: &Value, wanted: &Value, at: &str, found: &mut Vec<String>) {
    match (served, wanted) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                let value = |members: &serde_json::Map<String, Value>| members.get(key).cloned().unwrap_or_default();
                differences(&value(left), &value(right), &format!("{at}/{key}"), found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(left, right, &format!("{at}/{index}"), found);
            }
        }
        _ if served == wanted => {}
        _ => found.push(format!("{at}: {served} is not {wanted}")),
    }
}

#[tokio::test]
async fn discovery_with_everything_on_is_that_of_kube_apiserver() {
    if !reference().is_dir() {
        skip(
            "discovery",
            "there is no reference data at ../shared/kubernetes/discovery",
        );
        return;
    }
    let home = Home::new().unwrap();
    let server = home
        .start(
            &Binary::Planesmith.path().unwrap(),
            &["--storage=memory", "--runtime-config=api/all=true"],
        )
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let mut found = Vec::new();
    for file in fs::read_dir(reference()).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let wanted = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
        let aggregated = name == "aggregated_v2.json";
        let (path, accepted) = match aggregated {
            true => (
                "/apis".to_owned(),
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            ),
            false => (
                format!("/{}", name.trim_end_matches(".json").replace("__", "/")),
                "application/json",
            ),
        };
        let request = connection.request(http::Method::GET, &path).header("accept", accepted);
        let answer = connection
            .finish(request.body(bytes::Bytes::new().into()).unwrap())
            .await
            .unwrap();
        let served = answer.expect(200).unwrap().json().unwrap();
        differences(&without_place(served), &without_place(wanted), &name, &mut found);
    }
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}
