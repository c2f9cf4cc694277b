//! The whole way once: scaffold, generate, build, start, and use the new kind with kubectl.
//!
//! Works on a copy of the workspace below the target folder, which is kept, so that only what changed is built again.

use std::collections::BTreeSet;
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
    let root = target.join("new-group");
    copy_workspace(&root)?;
    let request = Request::read("library.example.com/v1", "Book", None)?;
    write(&root, &request)?;
    generate::write(&root)?;
    let formatted = cargo()
        .args(["fmt", "--check", "--package", &request.package])
        .current_dir(&root)
        .output()?;
    succeeded("cargo fmt --check", &formatted)?;
    let build = ["build", "--quiet", "--offline", "--package", &request.package];
    let built = cargo()
        .args(build)
        .current_dir(&root)
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

/// Makes `copy` equal to the workspace. Files that are right already keep their times, by which cargo knows them.
fn copy_workspace(copy: &Path) -> Result<()> {
    let (mut wanted, mut present) = (BTreeSet::new(), BTreeSet::new());
    list(workspace(), Path::new(""), &mut wanted)?;
    if copy.is_dir() {
        list(copy, Path::new(""), &mut present)?;
    }
    for stale in present.difference(&wanted) {
        std::fs::remove_file(copy.join(stale))?;
    }
    // Cargo must not take the folders of removed packages for packages.
    let _ = std::fs::remove_dir_all(copy.join("examples/library"));
    for path in &wanted {
        let text = std::fs::read(workspace().join(path))?;
        let to = copy.join(path);
        if std::fs::read(&to).ok().as_ref() != Some(&text) {
            std::fs::create_dir_all(to.parent().context("a file in a folder")?)?;
            std::fs::write(to, text)?;
        }
    }
    Ok(())
}

/// The files below a folder, without what is built and what git keeps.
fn list(root: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name == ".git" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            list(root, &folder.join(name), found)?;
        } else {
            found.insert(folder.join(name));
        }
    }
    Ok(())
}
