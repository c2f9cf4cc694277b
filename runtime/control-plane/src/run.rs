//! The process of a server: its command line, its log, its threads and its signals.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use planesmith_server::lifecycle::Signals;
use planesmith_server::version::Version;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::commands::{self, ParsedCommand, fail};
use crate::descriptors::Descriptors;
use crate::options::Options;
use crate::process::Process;
use crate::program::Program;
use crate::server::Server;

/// Executes the command line of this process: runs the server of `program` until it is stopped, unless the command
/// line has another command. For `main`: it sets up the log, the threads and the signals of the process. A program with
/// settings of its own runs a [`Server`] instead.
#[must_use]
pub fn run(program: &Program) -> ExitCode {
    let process = match Process::start() {
        Ok(process) => process,
        Err(error) => return fail(&error.into()),
    };
    let options = match commands::read(program, &process) {
        ParsedCommand::Serve(options) => options,
        ParsedCommand::Done(code) => return code,
    };
    let (format, splits) = (
        options.logging_format,
        options.log_streams.splits(options.logging_format),
    );
    crate::logging::start_logging(format, options.verbosity, splits);
    log_version(program);
    disable_core_dumps();
    let descriptors = Descriptors::of_process();
    match process
        .runtime()
        .block_on(serve(program, &options, descriptors, &process))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Logs the versions of the program and of its environment, as the first line of the log.
fn log_version(program: &Program) {
    let version = Version::default();
    tracing::info!(
        program = program.name,
        version = env!("CARGO_PKG_VERSION"),
        kubernetes = version.git_version,
        runtime = version.go_version,
        platform = version.platform,
        cores = std::thread::available_parallelism().map_or(1, usize::from),
        pid = std::process::id(),
        "starting"
    );
}

/// Keeps the memory of the process, which has keys and tokens, out of files after a crash.
fn disable_core_dumps() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps cannot be disabled");
    }
}

async fn serve(program: &Program, options: &Options, descriptors: Descriptors, process: &Process) -> Result<()> {
    // From here on SIGTERM is an orderly stop, also while starting.
    let (signal, signals) = Signals::manual();
    let received = process.on_stop_signal(move || signal.stop());
    received.context("signals cannot be received")?;
    let server = Server::open(program, options, descriptors).await?;
    print(&server.summary());
    server.run(signals).await
}

#[expect(clippy::print_stdout, reason = "the answer to starting the program")]
fn print(text: &str) {
    print!("{text}");
    // A parent process may wait for these lines behind a pipe.
    let _ = std::io::Write::flush(&mut std::io::stdout());
}
