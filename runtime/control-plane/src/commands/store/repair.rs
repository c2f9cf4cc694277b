//! `store repair`: the legible content of a damaged store, in a new one.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_store::{LoadedSource, RevisionShift};

use super::work::Work;
use super::{check, moving, report};
use crate::store_scheme::OpenStore as _;

/// Writes what is legible of a stopped server's damaged store into a new one, and puts that in its place.
///
/// Lists what is lost. The damaged store is moved to a folder beside it. Revisions skip what clients may have seen, and they read
/// everything again.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Repair {
    /// Folder of the server.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    data_dir: PathBuf,

    /// Accept the loss without a question.
    #[arg(long)]
    yes: bool,
}

impl Repair {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        let (inspection, mut folder) = check::inspect(&self.data_dir, work)?;
        if inspection.is_whole() {
            return report::say(&format!("{} is not damaged; nothing was changed", folder.place()));
        }
        crate::commands::print(report::describe(&inspection, &[]).as_bytes())?;
        if !self.yes {
            confirm()?;
        }
        let states = inspection.states.clone();
        let mut source = LoadedSource::new(states, inspection.unseen, work.program.name, work.now());
        let plan = moving::Plan {
            shift: RevisionShift::default(),
            revision: inspection.unseen,
            media_type: StorageMediaType::default(),
        };
        let moved = moving::into_store(&mut source, &moving::Layout::canonical(), &mut folder, &plan, work)?;
        report::say_moved(&moved, &folder.place())
    }
}

/// Asks the person at the terminal.
#[expect(clippy::print_stderr, reason = "a question to the person at the terminal")]
fn confirm() -> Result<()> {
    if !io::stdin().is_terminal() {
        bail!("the loss is not accepted; add --yes to write what is legible into a new store");
    }
    eprint!("Write what is legible into a new store, and move the damaged one aside? Type yes: ");
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .context("there is no answer")?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => bail!("nothing was changed"),
    }
}
