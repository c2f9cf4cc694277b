//! Running cargo, and where it puts things.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// The folder of the workspace.
pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the workspace")
}

/// A cargo command in the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = planesmith_e2e::binary::cargo();
    command.current_dir(workspace());
    command
}

/// Runs `command`, which speaks on the terminal, to its successful end.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("+ {shown}");
    let status = command.status().with_context(|| format!("starting {shown}"))?;
    ensure!(status.success(), "{shown} ended with {status}");
    Ok(())
}

/// `command` as a person would have typed it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Where cargo puts `name` when it builds with `profile` (`debug` or `release`).
pub(crate) fn built(profile: &str, name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    workspace().join(target).join(profile).join(name)
}
