//! A command of a component.

use std::fmt;

use anyhow::Result;
use clap::{ArgMatches, Command};
use tokio::runtime::Handle;

/// A command that a component adds to the binary, beside those of every program such as `store`.
pub trait ComponentCommand: fmt::Debug + Sync {
    /// Returns the command with its arguments. No other command of the program may have its name.
    fn command(&self) -> Command;

    /// Runs the command with the arguments `matches`, and its tasks on `runtime`. No server runs in this process; the command may
    /// write its result to the standard output.
    ///
    /// # Errors
    ///
    /// The reason of the failure; the process prints it and exits with 1.
    fn run(&self, matches: &ArgMatches, runtime: &Handle) -> Result<()>;
}
