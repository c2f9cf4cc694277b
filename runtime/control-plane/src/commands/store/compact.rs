//! `store compact`: forgets history, and frees its space.

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use http::Method;
use planesmith_store::{Revision, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

use super::folder_store::FolderStore;
use super::remote::ServerFlags;
use super::report;
use super::work::Work;
use crate::storage::STORE;
use crate::store_api::COMPACT;

/// Forgets the history of a store up to a revision, and frees the space that it can.
///
/// Watches and lists from before get the answer 410. The server goes on meanwhile.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Compact {
    #[command(flatten)]
    server: ServerFlags,

    /// The last revision to forget [default: the newest one].
    #[arg(long, value_name = "REVISION")]
    revision: Option<Revision>,
}

impl Compact {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        if let Some(server) = self.server.server()? {
            let query = self
                .revision
                .map_or(String::new(), |revision| format!("?revision={revision}"));
            let answer = server.json(Method::POST, &format!("{COMPACT}{query}"), work)?;
            let number = |name: &str| answer[name].as_u64().unwrap_or_default();
            let sizes = (number("diskBytesBefore"), number("diskBytes"));
            return say(&server.description, Revision(number("oldestRevision")), sizes);
        }
        let data_dir = &self.server.data_dir;
        let store = data_dir.join(STORE);
        if !store.is_dir() {
            bail!("there is no store in {}", data_dir.display());
        }
        let mut folder = FolderStore::new(data_dir, false, work);
        folder.lock()?;
        let place = store.display().to_string();
        let log = SledLog::open(&store).with_context(|| place.clone())?;
        let storage = Storage::open(log, &StorageOptions::default()).with_context(|| place.clone())?;
        let before = storage.stats().disk_bytes;
        let revision = self.revision.unwrap_or(storage.revision());
        let (done, sizes, oldest, alarms) = work.runtime().block_on(async {
            let done = storage.compact_fully(revision).await;
            let sizes = (before, storage.stats().disk_bytes);
            let found = (done, sizes, storage.oldest(), storage.alarms());
            storage.close().await;
            found
        });
        if !done {
            let alarms: Vec<String> = alarms.iter().map(ToString::to_string).collect();
            bail!("{place} was not compacted: {}", alarms.join("; "));
        }
        say(&place, oldest, sizes)
    }
}

fn say(place: &str, oldest: Revision, (before, after): (u64, u64)) -> Result<()> {
    report::say(&format!(
        "{place}: history begins after revision {oldest}; {} on the disk, {} before",
        report::size(after),
        report::size(before)
    ))
}
