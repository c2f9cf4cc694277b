//! A complete run: create a crate, generate, build, start, and use the new kind with kubectl.
//!
//! Works on a copy of the workspace that shares its target folder, so that only the new crate is built.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use planesmith_e2e::Home;
use planesmith_e2e::binary::cargo;
use planesmith_e2e::skip::skip;

use super::{Request, write};
use crate::cargo::workspace;
use crate::generate;
use crate::workspace_copy::{copy, succeeded, target};

const BOOK: &str = r#"{
    "apiVersion": "library.example.com/v1",
    "kind": "Book",
    "metadata": {"name": "first"},
    "spec": {"description": "DESCRIPTION"}
}"#;

#[tokio::test]
async fn a_new_group_is_served_to_kubectl() -> Result<()> {
    let target = target()?;
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    copy(workspace(), root)?;
    let request = Request::read("library.example.com/v1", "Book", None)?;
    write(root, &request)?;
    generate::write(root)?;
    let formatted = cargo()
        .args(["fmt", "--check", "--package", &request.package])
        .current_dir(root)
        .output()?;
    succeeded("cargo fmt --check", &formatted)?;
    let build = ["build", "--quiet", "--offline", "--package", &request.package];
    let built = cargo()
        .args(build)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        .output()?;
    succeeded("building the new crate", &built)?;
    if Command::new("kubectl")
        .arg("--help")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        skip("a new group with kubectl", "kubectl is not on the PATH");
        return Ok(());
    }

    let home = Home::new()?;
    let server = home
        .start(&target.join("debug").join(&request.package), &["--storage=memory"])
        .await?;
    let kubectl = |arguments: &[&str]| {
        let mut kubectl = Command::new("kubectl");
        kubectl
            .arg("--kubeconfig")
            .arg(home.kubeconfig())
            .args(arguments)
            .env("HOME", home.path());
        kubectl.stdin(Stdio::null()).output().context("starting kubectl")
    };
    let file = home.path().join("book.json");
    std::fs::write(&file, BOOK.replace("DESCRIPTION", "a first one"))?;
    let file = file.display().to_string();
    succeeded("kubectl create", &kubectl(&["create", "-f", &file])?)?;
    let shown = kubectl(&["get", "books.library.example.com", "first", "-o", "jsonpath={.spec}"])?;
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout),
        r#"{"count":1,"description":"a first one"}"#
    );

    std::fs::write(
        &file,
        BOOK.replace("DESCRIPTION", " a second one").replace("first", "second"),
    )?;
    let refused = kubectl(&["create", "-f", &file])?;
    let reason = String::from_utf8_lossy(&refused.stderr);
    assert!(
        reason.contains("spec.description: Invalid value: \" a second one\""),
        "{reason}"
    );
    server.kill().await
}
