//! `store restore`: the objects of a backup in a store.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use planesmith_store::{BackupReader, Revision, RevisionShift};

use super::work::Work;
use super::{moving, place, report};

/// Puts the objects of a backup into the folder of a stopped server, or into an empty store of another kind.
///
/// Revisions move forward, beyond all that clients of the former server have seen, so that none of them goes back in time:
/// watches and lists from before get the answer 410, and clients read everything again. The copy is verified before it is put
/// into place; until then nothing changes.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Restore {
    /// Backup to read, - for the standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Folder of the server.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    data_dir: PathBuf,

    /// Restore into a store of another kind, such as etcd:URLS, which must be empty.
    #[arg(long, value_name = "STORE", conflicts_with = "data_dir")]
    to: Option<String>,

    /// Replace the objects in the data folder. They are kept in a folder beside the store.
    #[arg(long)]
    replace: bool,

    /// Accept a store whose revisions cannot move beyond those of the backup. No client of the former server may be running.
    #[arg(long)]
    accept_older_revisions: bool,
}

impl Restore {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        let shown = self.file.display();
        let input: Box<dyn Read> = match self.file == Path::new("-") {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(&self.file).with_context(|| format!("{shown} cannot be read"))?),
        };
        let reader = BackupReader::open(BufReader::with_capacity(256 << 10, input));
        let mut reader = reader.with_context(|| shown.to_string())?;
        let header = reader.header().clone();
        if header.program != work.program.name {
            bail!(
                "{shown} is a backup of {}; restore it with that program, which knows all kinds in it",
                header.program
            );
        }
        let to = self
            .to
            .clone()
            .unwrap_or_else(|| format!("sled:{}", self.data_dir.display()));
        let mut target = place::open(&to, self.replace, work)?;
        let known = target.known_revision().with_context(|| target.place())?;
        let shift = RevisionShift::for_restore(header.revision, work.now()).at_least(header.revision, known);
        let least = match self.accept_older_revisions {
            true => Revision::ZERO,
            false => Revision(header.revision.0.saturating_add(RevisionShift::STEP)),
        };
        let plan = moving::Plan {
            shift,
            revision: least,
            media_type: place::media_type(&to, work)?,
        };
        let moved = moving::into_store(&mut reader, &moving::Layout::canonical(), &mut *target, &plan, work)?;
        report::warn_of_unreadable(&moved.unreadable);
        report::say_moved(&moved, &target.place())?;
        report::say(&format!(
            "the backup was at revision {}; clients of the former server read everything again",
            header.revision
        ))
    }
}
