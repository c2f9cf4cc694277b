//! Copies of the workspace that share its target folder, for tests that add a crate and build it.
//!
//! A copy must not be inside the target folder: cargo would then use the copy's files to decide if the workspace's crates are
//! stale.

use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, Result, ensure};

/// Returns the target folder that contains this test.
pub(crate) fn target() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let target = test
        .ancestors()
        .nth(3)
        .context("the test runs outside a target folder")?;
    Ok(target.to_owned())
}

/// Fails with a command's standard error if it did not succeed.
pub(crate) fn succeeded(what: &str, output: &Output) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{what}: {}\n{stderr}", output.status);
    Ok(())
}

/// Copies the files below a folder, except for build output and git metadata. Modification times are preserved, so that cargo
/// does not rebuild.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
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
