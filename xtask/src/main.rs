//! The workspace's tasks, one file each: `cargo xtask TASK`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "results go to the terminal's standard output, progress to its standard error"
)]

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod cargo;
mod fuzz;
mod generate;
mod import;
mod metadata;
mod new_group;
mod serve;
mod sources;
mod test;
mod texts;
mod tidy;
mod torture;
#[cfg(test)]
mod workspace_copy;

/// The workspace's tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Generate(generate::Generate),
    NewGroup(new_group::NewGroup),
    Import(import::Import),
    Serve(serve::Serve),
    Test(test::Test),
    Tidy(tidy::Tidy),
    Texts(texts::Texts),
    Bench(bench::Bench),
    Fuzz(fuzz::Fuzz),
    Torture(torture::Torture),
    #[command(hide = true)]
    BenchLimitServer(bench::limit::LimitServer),
}

fn main() -> ExitCode {
    run(Cli::parse().task).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: Task) -> anyhow::Result<ExitCode> {
    match task {
        Task::Generate(task) => return task.run(),
        Task::NewGroup(task) => return task.run(),
        Task::Tidy(task) => return task.run(),
        Task::Texts(task) => return task.run(),
        Task::Import(task) => task.run(),
        Task::Serve(task) => task.run(),
        Task::Test(task) => task.run(),
        Task::Bench(task) => task.run(),
        Task::Fuzz(task) => task.run(),
        Task::Torture(task) => task.run(),
        Task::BenchLimitServer(task) => task.run(),
    }?;
    Ok(ExitCode::SUCCESS)
}
