//! `cargo xtask fuzz`: hostile input, guided by what it reaches.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::{built, cargo, run, shown, workspace};

/// What makes each branch count itself; libFuzzer reads the counters. The stable compiler has it too.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                        -Cllvm-args=-sanitizer-coverage-trace-compares";

/// An input that takes longer is a finding.
const SLOW_SECONDS: u32 = 10;

/// A process that takes more memory is a finding.
const MEMORY_MEGABYTES: u32 = 1536;

/// Kilobytes of stack: what a task of the server has.
const STACK_KILOBYTES: u32 = 2048;

/// Feeds a target with mutated input for a while, and stops at the first input that breaks something.
///
/// Targets are those of `tests/fuzz`. What was learned stays in `target/fuzz/corpus`; an input that broke something is written
/// to `tests/fuzz/findings/TARGET`, where the tests run it from then on.
#[derive(Debug, clap::Args)]
pub(crate) struct Fuzz {
    /// The target, such as `json`.
    target: String,

    /// How long.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    seconds: u32,
}

impl Fuzz {
    pub(crate) fn run(&self) -> Result<()> {
        let binary = build()?;
        let corpus = made(built("fuzz", "corpus").join(&self.target))?;
        let findings = made(workspace().join("tests/fuzz/findings").join(&self.target))?;
        let options = [
            format!("-max_total_time={}", self.seconds),
            format!("-timeout={SLOW_SECONDS}"),
            format!("-rss_limit_mb={MEMORY_MEGABYTES}"),
            format!("-artifact_prefix={}/", findings.display()),
            "-max_len=32768".to_owned(),
            "-print_final_stats=1".to_owned(),
        ];
        // A shell, because a process cannot set its own stack once it runs.
        let mut fuzz = Command::new("sh");
        fuzz.args(["-c", &format!("ulimit -s {STACK_KILOBYTES}; exec \"$0\" \"$@\"")])
            .arg(&binary)
            .arg(&corpus)
            .args(options)
            .env("PLANESMITH_FUZZ_TARGET", &self.target)
            .env("PLANESMITH_FUZZ_SEEDS", &corpus);
        let status = fuzz.status().with_context(|| format!("starting {}", shown(&fuzz)))?;
        // Empty when nothing was found; git does not keep it then.
        ensure!(
            status.success(),
            "{} broke; the input is in {}",
            self.target,
            findings.display()
        );
        Ok(())
    }
}

/// Builds everything once more, with counters, and returns the fuzzer.
fn build() -> Result<PathBuf> {
    let host = host()?;
    let folder = built("fuzz", "build");
    let manifest = workspace().join("tests/fuzz/guided/Cargo.toml");
    let mut build = cargo();
    build
        .args(["build", "--release", "--locked", "--target", &host])
        .arg("--manifest-path")
        .arg(manifest)
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", COVERAGE);
    run(&mut build)?;
    Ok(folder.join(host).join("release/planesmith-fuzz-guided"))
}

/// What the compiler builds for. Naming it keeps the counters out of what runs while building.
fn host() -> Result<String> {
    let output = Command::new("rustc").args(["--print", "host-tuple"]).output()?;
    ensure!(output.status.success(), "rustc does not say what it builds for");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn made(folder: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", Path::display(&folder)))?;
    Ok(folder)
}
