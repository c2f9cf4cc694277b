//! Unmodified clients against a running server: create, list and watch, update after a conflict, apply, and leader election.
//! Their programs are in `tests/clients`, one folder per language.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use planesmith_e2e::skip::skip;
use planesmith_e2e::{Binary, Home};
use tokio::process::Command;

use crate::transcript::at_home;

/// The time limit of a program, including its own waits.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The lines that every program prints.
const PARTS: &[&str] = &["create", "list+watch", "update conflict", "apply", "leader election"];

fn folder(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(language)
}

/// Runs a program with its arguments against its own server; it must print [`PARTS`] and then `more`.
async fn check(program: impl AsRef<OsStr>, arguments: &[&Path], more: &[&str]) {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let _server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let mut command = at_home(program, &home);
    command.args(arguments).kill_on_drop(true);
    let output = tokio::time::timeout(TIMEOUT, command.output()).await;
    let output = output.expect("the program ends in time").unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    let parts: Vec<&str> = printed.lines().collect();
    assert_eq!(parts, [PARTS, more].concat(), "{complaints}");
    assert!(output.status.success(), "{complaints}");
}

/// True if a command runs successfully.
async fn works(program: &Path, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output().await;
    output.is_ok_and(|output| output.status.success())
}

#[tokio::test]
async fn kubectl() {
    if !works(Path::new("kubectl"), &["version", "--client"]).await {
        return skip("client in a shell", "there is no kubectl");
    }
    check("bash", &[&folder("kubectl").join("client.sh")], &[]).await;
}

/// `PLANESMITH_PYTHON` names the interpreter of an environment with the package.
#[tokio::test]
async fn python() {
    let python = std::env::var_os("PLANESMITH_PYTHON").map_or_else(|| PathBuf::from("python3"), PathBuf::from);
    if !works(&python, &["-c", "import kubernetes"]).await {
        return skip("client of Python", "python3 has no package `kubernetes`");
    }
    check(&python, &[&folder("python").join("client.py")], &[]).await;
}

#[tokio::test]
async fn javascript() {
    let folder = folder("javascript");
    if !folder.join("node_modules").is_dir() || !works(Path::new("node"), &["--version"]).await {
        return skip("client of JavaScript", "run `npm ci` in tests/clients/javascript first");
    }
    check("node", &[&folder.join("client.mjs")], &[]).await;
}

/// The program is a separate workspace, built by this test with the server's toolchain.
#[tokio::test]
async fn rust() {
    let manifest = folder("rust").join("Cargo.toml");
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let cargo = |task: &str| {
        let mut cargo = Command::from(planesmith_e2e::binary::cargo());
        cargo
            .args([task, "--locked", "--quiet"])
            .arg("--manifest-path")
            .arg(&manifest);
        cargo
    };
    if !cargo("fetch").status().await.unwrap().success() {
        return skip("client of Rust", "the registry of crates cannot be reached");
    }
    let build = cargo("build").arg("--target-dir").arg(target).status().await;
    assert!(build.unwrap().success(), "the client builds");
    let program = target.join("debug/planesmith-rust-client");
    check(program, &[], &["controller"]).await;
}
