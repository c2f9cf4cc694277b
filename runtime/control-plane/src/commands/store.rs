//! `store`: work on the objects of a server as a whole.
//!
//! Reading order: `place` (the stores that a command line names), `folder_store` (a data folder), `moving` (from one to another,
//! verified), `encrypted_values`, `work` (progress and interruption), then one module per command.

mod backup;
mod check;
mod compact;
mod copy;
mod encrypted_values;
mod folder_store;
mod moving;
mod output_file;
mod place;
mod reencrypt;
mod remote;
mod repair;
mod report;
mod restore;
mod status;
mod work;

use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgMatches, Parser, Subcommand};

use self::work::Work;
use crate::commands::keeping_about;
use crate::process::Process;
use crate::program::Program;

/// Backs up, restores, copies, checks, repairs and encrypts the objects of a server.
#[derive(Debug, Parser)]
#[command(
    disable_version_flag = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(super) struct Store {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Backup(backup::Backup),
    Restore(restore::Restore),
    Copy(copy::Copy),
    Check(check::Check),
    Repair(repair::Repair),
    Compact(compact::Compact),
    Reencrypt(reencrypt::Reencrypt),
    Status(status::Status),
}

/// The commands that name stores of components, and so have the flags of these.
const WITH_SCHEMES: [&str; 3] = ["backup", "restore", "copy"];
/// The commands that decrypt and encrypt objects.
const WITH_VALUES: [&str; 5] = ["backup", "restore", "copy", "check", "reencrypt"];

/// Adds the flags of the stores of `program` to the commands that name stores, and those of their encryption.
pub(super) fn with_schemes(command: clap::Command, program: &Program) -> clap::Command {
    let schemes = || {
        program
            .components
            .iter()
            .filter_map(|component| component.store_scheme())
    };
    let transformations = || {
        program
            .components
            .iter()
            .filter_map(|component| component.store_transformation())
    };
    let encrypts = transformations().next().is_some();
    command.mut_subcommand("store", |store| {
        let store = store.mut_subcommand("reencrypt", |command| command.hide(!encrypts));
        let store = WITH_VALUES.into_iter().fold(store, |store, name| {
            store.mut_subcommand(name, |command| {
                transformations().fold(command, |command, transformation| {
                    keeping_about(command, |command| transformation.flags(command))
                })
            })
        });
        WITH_SCHEMES.into_iter().fold(store, |store, name| {
            store.mut_subcommand(name, |command| {
                schemes().fold(command, |command, scheme| {
                    keeping_about(command, |command| scheme.flags(command))
                })
            })
        })
    })
}

impl Store {
    /// Runs the command; `matches` are those of the whole command line.
    pub(super) fn run(&self, program: &Program, matches: &ArgMatches, process: &Process) -> Result<ExitCode> {
        let of_store = matches.subcommand_matches("store");
        let of_command = of_store
            .and_then(|matches| matches.subcommand())
            .map(|(_, matches)| matches);
        let work = Work::begin(program, of_command.unwrap_or(matches), process)?;
        match &self.command {
            Command::Backup(backup) => backup.run(&work)?,
            Command::Restore(restore) => restore.run(&work)?,
            Command::Copy(copy) => copy.run(&work)?,
            Command::Check(check) => return check.run(&work),
            Command::Repair(repair) => repair.run(&work)?,
            Command::Compact(compact) => compact.run(&work)?,
            Command::Reencrypt(reencrypt) => reencrypt.run(&work)?,
            Command::Status(status) => status.run(&work)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
