//! `cargo xtask serve`: the way from a fresh clone to a running server.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cargo::{built, cargo, run, shown, workspace};
use crate::generate;

/// Generates, builds and runs the server on its embedded store.
///
/// Without `--release` the debug profile is used: it builds in about half the time, shares
/// everything with `cargo xtask test`, and serves a person at a terminal just as well.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Build with optimizations: slower to build, several times faster to serve.
    #[arg(long)]
    release: bool,

    /// The server's own flags, after `--`, such as `-- --secure-port=7443`.
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
        eprintln!("+ {}", shown(&server));
        // The server takes this process over, so that signals reach it and its exit code counts.
        Err(server.exec()).with_context(|| format!("starting {}", shown(&server)))
    }
}
