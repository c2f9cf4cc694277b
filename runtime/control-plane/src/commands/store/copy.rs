//! `store copy`: the objects of one store in another one.

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use planesmith_store::{Revision, RevisionShift};

use super::work::Work;
use super::{moving, place, report};

/// Copies all objects of a stopped server into another store, and compares them one by one.
///
/// Stores are sled:DATA_DIR and those of other kinds, such as etcd:URLS. The target has no objects yet; it gets them whole or
/// not at all. Its revisions continue those of the source, so clients go on where they were, or read everything again.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Copy {
    /// The store to read. No server writes to it meanwhile.
    #[arg(long, value_name = "STORE")]
    from: String,

    /// The store to write.
    #[arg(long, value_name = "STORE")]
    to: String,

    /// Replace the objects of a target sled:DATA_DIR. They are kept in a folder beside the store.
    #[arg(long)]
    replace: bool,

    /// Accept a target whose revisions do not reach those that it or the source had. No client of either may be running.
    #[arg(long)]
    accept_older_revisions: bool,
}

impl Copy {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        if self.from == self.to {
            bail!("--from and --to are both {}; expected two stores", self.from);
        }
        let mut from = place::open(&self.from, false, work)?;
        let mut target = place::open(&self.to, self.replace, work)?;
        let mut part = work.part("reading", 0);
        let source = from.read(work.program.name, work.now(), &mut |done, total| {
            part.note_of(done, total)
        });
        let mut source = source.with_context(|| from.place())?;
        drop(part);
        let known = target.known_revision()?;
        if known > source.revision() && !self.accept_older_revisions {
            bail!(
                "{} is at revision {known}, beyond {} of the source: its clients would not notice changes. Stop all of them and add \
                 --accept-older-revisions",
                target.place(),
                source.revision()
            );
        }
        let plan = moving::Plan {
            shift: RevisionShift::default(),
            revision: match self.accept_older_revisions {
                true => Revision::ZERO,
                false => source.revision(),
            },
            media_type: place::media_type(&self.to, work)?,
        };
        let moved = {
            let from = moving::Layout::of(&*from);
            moving::into_store(&mut source, &from, &mut *target, &plan, work)?
        };
        report::warn_of_unreadable(&moved.unreadable);
        report::say_moved(&moved, &target.place())
    }
}
