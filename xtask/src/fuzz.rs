//! `cargo xtask fuzz`: coverage-guided fuzzing.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::cargo::{built, cargo, rendered, run, workspace};

/// Compiler flags that insert a counter per branch, for libFuzzer. They work on the stable compiler, too.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                        -Cllvm-args=-sanitizer-coverage-trace-compares";

/// The time after which an input is a finding.
const SLOW_SECONDS: u32 = 10;

/// The memory use beyond which a process is a finding.
const MEMORY_MEGABYTES: u32 = 1536;

/// The stack size in kilobytes, equal to that of the server's tasks.
const STACK_KILOBYTES: u32 = 2048;

/// Feeds a target with mutated input for a given time, and stops at the first input that breaks it.
///
/// The targets are those of `tests/fuzz`. The corpus is stored in `target/fuzz/corpus`. A breaking input is written to
/// `tests/fuzz/findings/TARGET`, from which the tests run it in future.
#[derive(Debug, clap::Args)]
pub(crate) struct Fuzz {
    /// The target, such as `json`.
    target: String,

    /// The duration, in seconds.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    seconds: u32,
}

impl Fuzz {
    pub(crate) fn run(&self) -> Result<()> {
        let binary = build()?;
        let corpus = create_folder(built("fuzz", "corpus").join(&self.target))?;
        let findings = create_folder(workspace().join("tests/fuzz/findings").join(&self.target))?;
        let options = [
            format!("-max_total_time={}", self.seconds),
            format!("-timeout={SLOW_SECONDS}"),
            format!("-rss_limit_mb={MEMORY_MEGABYTES}"),
            format!("-artifact_prefix={}/", findings.display()),
            "-max_len=32768".to_owned(),
            "-print_final_stats=1".to_owned(),
        ];
        // A shell sets the stack size, because a running process cannot change its own.
        let mut fuzz = Command::new("sh");
        fuzz.args(["-c", &format!("ulimit -s {STACK_KILOBYTES}; exec \"$0\" \"$@\"")])
            .arg(&binary)
            .arg(&corpus)
            .args(options)
            .env("PLANESMITH_FUZZ_TARGET", &self.target)
            .env("PLANESMITH_FUZZ_SEEDS", &corpus);
        let status = fuzz.status().with_context(|| format!("starting {}", rendered(&fuzz)))?;
        // An empty folder means no findings; git does not store it.
        ensure!(
            status.success(),
            "{} failed; the input is in {}",
            self.target,
            findings.display()
        );
        Ok(())
    }
}

/// Builds the fuzzer with counters in all crates, and returns its path.
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

/// Returns the host target. Passing it to cargo keeps the counters out of build scripts and proc macros.
fn host() -> Result<String> {
    let output = Command::new("rustc").args(["--print", "host-tuple"]).output()?;
    ensure!(output.status.success(), "rustc does not report its host target");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn create_folder(folder: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", Path::display(&folder)))?;
    Ok(folder)
}
