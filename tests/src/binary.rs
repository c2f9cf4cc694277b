//! Finding the server binaries under test.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};

/// A server of this workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// The generated server with all built-in groups.
    Planesmith,
    /// The example's server, with one private group.
    Shop,
}

impl Binary {
    /// The environment variable that points at a binary built already.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Planesmith => "PLANESMITH_BIN",
            Self::Shop => "PLANESMITH_SHOP_BIN",
        }
    }

    /// The name of the package.
    #[must_use]
    pub fn package(self) -> &'static str {
        match self {
            Self::Planesmith => "planesmith",
            Self::Shop => "planesmith-shop",
        }
    }

    /// The path of the binary: where [`variable`](Self::variable) points, or else built now, beside
    /// the running test, so that a plain `cargo test` never meets a stale one.
    ///
    /// # Errors
    ///
    /// When it does not build, or the variable points at nothing.
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

/// A cargo command that builds as one typed at a terminal does.
///
/// Whatever cargo runs finds its own package in the environment. Build scripts that look there
/// would run again, and everything above them compile again, each time the caller changes.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let told = name.to_string_lossy();
        if told.starts_with("CARGO_PKG_") || told.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}
