//! `cargo xtask test`: runs all tests and lists what was skipped.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::Result;
use planesmith_e2e::Binary;
use planesmith_e2e::skip::SKIPPED_FILE;

use crate::cargo::{built, cargo, run};

/// Runs all tests of the workspace, including those against the real server.
///
/// Uses cargo-nextest if it is installed, and `cargo test` otherwise. Tests that were skipped because a program such as kubectl
/// is missing are listed at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Run only tests whose names contain one of these filters.
    filters: Vec<OsString>,
}

impl Test {
    pub(crate) fn run(&self) -> Result<()> {
        // One build of all targets: servers and tests get the same features, so that nothing is compiled twice, and the servers
        // exist before the first test starts them.
        run(cargo().args(["build", "--workspace", "--all-targets"]))?;

        let skipped = built("debug", "skipped-tests.txt");
        std::fs::write(&skipped, "")?;
        let mut tests = self.runner();
        tests.env(SKIPPED_FILE, &skipped);
        for binary in [Binary::Planesmith, Binary::Shop] {
            let path = built("debug", binary.package());
            if path.is_file() {
                tests.env(binary.variable(), path);
            }
        }
        let result = self
            .examples()
            .and_then(|()| self.schemas())
            .and_then(|()| run(&mut tests));

        let skipped = std::fs::read_to_string(skipped)?;
        let skipped: BTreeSet<_> = skipped.lines().collect();
        if !skipped.is_empty() {
            println!("\nnot tested here:");
            skipped.iter().for_each(|line| println!("  {line}"));
        }
        result
    }

    fn runner(&self) -> Command {
        let mut command = cargo();
        if has_nextest() {
            command
                .args(["nextest", "run", "--workspace", "--no-fail-fast"])
                .args(&self.filters);
        } else {
            command.args(["test", "--workspace", "--all-targets", "--no-fail-fast", "--"]);
            command.args(&self.filters);
        }
        command
    }

    /// Runs the documentation examples, which neither runner above covers.
    fn examples(&self) -> Result<()> {
        if !self.filters.is_empty() {
            return Ok(());
        }
        run(cargo().args(["test", "--workspace", "--doc", "--quiet"]))
    }

    /// Runs the tests of the `schemars` feature, which is off in the workspace and needs a separate build.
    fn schemas(&self) -> Result<()> {
        if !self.filters.is_empty() {
            return Ok(());
        }
        let package = ["test", "-p", "planesmith-machinery", "--features", "schemars"];
        run(cargo().args(package).args(["--test", "it", "json_schema"]))
    }
}

fn has_nextest() -> bool {
    let mut probe = cargo();
    probe
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
