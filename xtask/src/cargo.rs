//! Invocations of cargo, and the locations of its output.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Returns the folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}

/// Returns a cargo command in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = planesmith_e2e::binary::cargo();
    command.current_dir(workspace());
    command
}

/// Runs `command` with inherited standard streams; fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = rendered(command);
    eprintln!("+ {shown}");
    let status = command.status().with_context(|| format!("starting {shown}"))?;
    ensure!(status.success(), "{shown} ended with {status}");
    Ok(())
}

/// Returns `command` as typed in a shell.
pub(crate) fn rendered(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Returns the path of the binary `name` built with `profile` (`debug` or `release`).
pub(crate) fn built(profile: &str, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    workspace().join(target).join(profile).join(name)
}
