//! What the server says about itself is what `cargo xtask generate` wrote for review.

use std::fs;
use std::path::{Path, PathBuf};

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
    let server = home.start(&Binary::Planesmith.path().unwrap(), &[]).await.unwrap();
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
