//! The whole way once: scaffold, generate, build, start, and use the new kind with kubectl.
//!
//! Works on a copy of the workspace that shares its target folder, so that only the new crate is built. The copy must not
//! lie in that folder: cargo would then judge by the copy's files, ever after, whether the workspace's crates are stale.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, Result, ensure};
use planesmith_e2e::Home;
use planesmith_e2e::binary::cargo;
use planesmith_e2e::skip::skip;

use super::{Request, write};
use crate::cargo::workspace;
use crate::generate;

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

/// The target folder that this test was built into.
fn target() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let target = test
        .ancestors()
        .nth(3)
        .context("the test runs outside a target folder")?;
    Ok(target.to_owned())
}

fn succeeded(what: &str, output: &Output) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{what}: {}\n{stderr}", output.status);
    Ok(())
}

/// Copies the files below a folder, without what is built and what git keeps. They keep their times, by which cargo knows
/// what is built already.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let (from, to) = (entry.path(), to.join(&name));
        if kind.is_dir() && name != "target" && name != ".git" {
            copy(&from, &to)?;
        } else if kind.is_file() {
            std::fs::copy(&from, &to)?;
            std::fs::File::options()
                .write(true)
                .open(&to)?
                .set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}
