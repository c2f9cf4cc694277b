//! Locates the server binaries under test.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};

/// A server of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The generated server with all built-in groups.
    Planesmith,
    /// The server of the example, with a custom group.
    Shop,
}

impl Binary {
    /// Returns the environment variable for the path of an existing binary.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Planesmith => "PLANESMITH_BIN",
            Self::Shop => "PLANESMITH_SHOP_BIN",
        }
    }

    /// Returns the name of the package.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Planesmith => "planesmith",
            Self::Shop => "planesmith-shop",
        }
    }

    /// Returns the path of the binary: the value of [`variable`](Self::variable), or else the result of a build next to the
    /// running test, so that a plain `cargo test` never uses a stale binary.
    ///
    /// # Errors
    ///
    /// The build fails, or the variable refers to a missing file.
    pub fn path(self) -> Result<PathBuf> {
        static BUILT: [OnceLock<PathBuf>; 2] = [OnceLock::new(), OnceLock::new()];
        let slot = &BUILT[self as usize];
        if let Some(path) = slot.get() {
            return Ok(path.clone());
        }
        let path = match std::env::var_os(self.variable()) {
            Some(path) => PathBuf::from(path),
            None => self.build()?,
        };
        ensure!(
            path.is_file(),
            "{} is {}, which is no file",
            self.variable(),
            path.display()
        );
        Ok(slot.get_or_init(|| path).clone())
    }

    fn build(self) -> Result<PathBuf> {
        let test = std::env::current_exe()?;
        let folder = test
            .ancestors()
            .nth(2)
            .context("the test runs outside a target folder")?;
        let mut cargo = cargo();
        cargo.args(["build", "--quiet", "--package", self.package()]);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let status = cargo.stdin(Stdio::null()).status().context("starting cargo")?;
        ensure!(status.success(), "building {} failed: {status}", self.package());
        Ok(folder.join(self.package()))
    }
}

/// Returns a cargo command with the environment of an interactive shell.
///
/// Cargo exports variables about the current package to its child processes. Build scripts that depend on them would run again,
/// with all dependent crates, whenever the caller changes.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let lossy = name.to_string_lossy();
        if lossy.starts_with("CARGO_PKG_") || lossy.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}
