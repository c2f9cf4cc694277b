//! `cargo xtask serve`: builds and runs the server from a fresh clone.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cargo::{built, cargo, rendered, run, workspace};
use crate::generate;

/// Generates, builds and runs the server on its embedded store.
///
/// The default is the debug profile: it builds in about half the time, shares its artifacts with `cargo xtask test`, and is
/// fast enough for interactive use.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Build with optimizations: slower to build, several times faster to serve.
    #[arg(long)]
    release: bool,

    /// Flags of the server, after `--`, such as `-- --secure-port=7443`.
    #[arg(last = true)]
    flags: Vec<OsString>,
}

impl Serve {
    pub(crate) fn run(&self) -> Result<()> {
        for difference in generate::write(workspace())? {
            eprintln!("{}", difference.done());
        }
        let mut build = cargo();
        build.args(["build", "--package", "planesmith"]);
        if self.release {
            build.arg("--release");
        }
        run(&mut build)?;

        let profile = if self.release { "release" } else { "debug" };
        let mut server = Command::new(built(profile, "planesmith"));
        server.args(&self.flags);
        eprintln!("+ {}", rendered(&server));
        // The server replaces this process, so that it receives signals and its exit code is returned.
        Err(server.exec()).with_context(|| format!("starting {}", rendered(&server)))
    }
}
