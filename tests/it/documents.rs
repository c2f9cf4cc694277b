//! The served documents equal those that `cargo xtask generate` wrote for review.

use std::fs;
use std::path::{Path, PathBuf};

use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Home};
use serde_json::Value;

fn generated() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated")
}

/// Returns the documents in `folder` with the paths derived from their names.
fn documents(folder: &str) -> Vec<(String, Value)> {
    let files = fs::read_dir(generated().join(folder)).unwrap();
    let document = |file: fs::DirEntry| {
        let name = file.file_name().into_string().unwrap();
        let path = name.trim_end_matches(".json").replace("__", "/");
        (path, serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap())
    };
    files.map(|file| document(file.unwrap())).collect()
}

/// Sorts groups by name, because definitions do not declare the preference of groups, and removes the entry for pods.
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
        .start(
            &Binary::Planesmith.path().unwrap(),
            &["--storage=memory", EVERYTHING, FEATURES],
        )
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let mut differing = Vec::new();
    for (folder, root) in [("discovery", "/"), ("openapi/v3", "/openapi/v3/")] {
        let documents = documents(folder);
        assert!(!documents.is_empty(), "{folder}");
        for (path, mut expected) in documents {
            let path = format!("{root}{path}");
            let mut served = connection.get_json(&path).await.unwrap();
            in_order(&mut served);
            in_order(&mut expected);
            if served != expected {
                differing.push(format!("{path}:\n  served    {served}\n  generated {expected}"));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// Returns the folder with kube-apiserver's discovery documents, next to the workspace.
fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/kubernetes/discovery")
}

/// Removes server-specific content: the address, and the document's own type.
fn without_place(mut document: Value) -> Value {
    if let Some(members) = document.as_object_mut() {
        for name in ["apiVersion", "kind", "metadata", "serverAddressByClientCIDRs"] {
            members.remove(name);
        }
    }
    document
}

/// Collects the differences between two documents.
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

/// The flag that enables all documented group versions.
const EVERYTHING: &str = "--runtime-config=api/all=true";
/// The feature gates of documented resources.
const FEATURES: &str = "--feature-gates=ClusterTrustBundle=true,PodCertificateRequest=true,GenericWorkload=true,\
                        StorageVersionMigrator=true";

/// The media type of aggregated discovery.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// True if kube-apiserver's documents are available for comparison.
fn has_reference() -> bool {
    let has = reference().is_dir();
    if !has {
        skip(
            "discovery",
            "there is no reference data at ../shared/kubernetes/discovery",
        );
    }
    has
}

#[tokio::test]
async fn discovery_with_everything_on_is_that_of_kube_apiserver() {
    if !has_reference() {
        return;
    }
    let home = Home::new().unwrap();
    let server = home
        .start(
            &Binary::Planesmith.path().unwrap(),
            &["--storage=memory", EVERYTHING, FEATURES],
        )
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let mut found = Vec::new();
    for file in fs::read_dir(reference()).unwrap() {
        let file = file.unwrap();
        let name = file.file_name().into_string().unwrap();
        let wanted = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
        let (path, accepted) = match name == "aggregated_v2.json" {
            true => ("/apis".to_owned(), AGGREGATED),
            false => (
                format!("/{}", name.trim_end_matches(".json").replace("__", "/")),
                "application/json",
            ),
        };
        let served = connection.get_json_as(&path, accepted).await.unwrap();
        differences(&without_place(served), &without_place(wanted), &name, &mut found);
    }
    let index = reference().join("../openapi/v3");
    let names = fs::read_dir(index).unwrap().map(|file| file.unwrap().file_name());
    let mut wanted: Vec<String> = names
        .map(|name| {
            name.to_string_lossy()
                .trim_end_matches("_openapi.json")
                .replace("__", "/")
        })
        .filter(|path| path != "logs")
        .collect();
    wanted.push(".well-known/openid-configuration".to_owned());
    wanted.sort();
    let served = connection.get_json_as("/openapi/v3", "application/json").await.unwrap();
    let served: Vec<&String> = served["paths"].as_object().unwrap().keys().collect();
    assert!(served.iter().copied().eq(&wanted), "{served:?} is not {wanted:?}");
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn without_flags_the_settled_versions_are_served() {
    if !has_reference() {
        return;
    }
    let home = Home::new().unwrap();
    let server = home
        .start(&Binary::Planesmith.path().unwrap(), &["--storage=memory"])
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let settled = |version: &str| !version.contains("alpha") && !version.contains("beta");
    let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(reference().join(name)).unwrap()).unwrap() };
    let mut found = Vec::new();

    let mut wanted = read("aggregated_v2.json");
    for group in wanted["items"].as_array_mut().unwrap() {
        let versions = group["versions"].as_array_mut().unwrap();
        versions.retain(|version| settled(version["version"].as_str().unwrap()));
    }
    let groups = wanted["items"].as_array_mut().unwrap();
    groups.retain(|group| group["versions"] != Value::Array(Vec::new()));
    let served = connection.get_json_as("/apis", AGGREGATED).await.unwrap();
    differences(&without_place(served), &without_place(wanted), "aggregated", &mut found);

    let mut wanted = read("apis.json");
    for group in wanted["groups"].as_array_mut().unwrap() {
        let versions = group["versions"].as_array_mut().unwrap();
        versions.retain(|version| settled(version["version"].as_str().unwrap()));
        group["preferredVersion"] = group["versions"][0].clone();
    }
    let groups = wanted["groups"].as_array_mut().unwrap();
    groups.retain(|group| group["versions"] != Value::Array(Vec::new()));
    let served = connection.get_json_as("/apis", "application/json").await.unwrap();
    differences(&without_place(served), &without_place(wanted), "apis", &mut found);
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn resources_of_a_feature_are_served_and_documented_only_with_it() {
    const OFF: [(&str, &str); 3] = [
        ("apis/certificates.k8s.io/v1alpha1", "clustertrustbundles"),
        ("apis/scheduling.k8s.io/v1alpha2", "workloads"),
        ("apis/storagemigration.k8s.io/v1beta1", "storageversionmigrations"),
    ];
    // kube-apiserver serves these without their features, so that objects can be cleaned up.
    const ALWAYS: (&str, &str) = ("apis/resource.k8s.io/v1alpha3", "devicetaintrules");
    let home = Home::new().unwrap();
    let server = home
        .start(&Binary::Planesmith.path().unwrap(), &["--storage=memory", EVERYTHING])
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let status = async |path: String| connection.get(&path).await.unwrap().status.as_u16();
    let documents = connection.get_json("/openapi/v3").await.unwrap();
    for ((version, resource), expected) in OFF.map(|one| (one, 404)).into_iter().chain([(ALWAYS, 200)]) {
        assert_eq!(status(format!("/{version}")).await, expected, "{version}");
        assert_eq!(status(format!("/{version}/{resource}")).await, expected, "{resource}");
        assert_eq!(documents["paths"].get(version).is_some(), expected == 200, "{version}");
    }
}

#[tokio::test]
async fn documents_are_about_served_resources_only() {
    let home = Home::new().unwrap();
    let flags = [
        "--storage=memory",
        "--runtime-config=certificates.k8s.io/v1beta1=true,apps/v1/daemonsets=false",
        "--feature-gates=PodCertificateRequest=true",
    ];
    let server = home.start(&Binary::Planesmith.path().unwrap(), &flags).await.unwrap();
    let connection = server.connect().await.unwrap();
    let document = async |path: &str| connection.get_json(path).await.unwrap().to_string();
    let certificates = document("/openapi/v3/apis/certificates.k8s.io/v1beta1").await;
    assert!(
        certificates.contains("/podcertificaterequests/{name}") && certificates.contains("PodCertificateRequestSpec")
    );
    assert!(!certificates.contains("clustertrustbundles") && !certificates.contains("ClusterTrustBundle"));
    let all = document("/openapi/v2").await;
    assert!(all.contains("io.k8s.api.apps.v1.Deployment\""));
    assert!(!all.contains("/daemonsets") && !all.contains("io.k8s.api.apps.v1.DaemonSet\""));
}
