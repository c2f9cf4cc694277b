//! `cargo xtask torture`: proves what the stores promise.

use std::ffi::OsString;

use anyhow::Result;

use crate::cargo::{built, cargo, run};

/// Tortures the stores: random clients during restarts, crashes, losses of power and faults, whose observations are checked.
///
/// Fails with the first broken promise, or if a store lacks what the torture needs. `--help` behind `--` lists the options.
#[derive(Debug, clap::Args)]
pub(crate) struct Torture {
    /// The options, such as `--minutes 10 --seed 1 --store sled`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Torture {
    pub(crate) fn run(&self) -> Result<()> {
        // A folder of its own: these few crates are built in seconds, whatever the rest of the workspace needs.
        let mut torture = cargo();
        torture
            .args(["run", "--quiet", "--package", "planesmith-torture", "--"])
            .args(&self.options)
            .env("CARGO_TARGET_DIR", built("torture", ""));
        run(&mut torture)
    }
}
