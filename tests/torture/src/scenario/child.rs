//! The child process: one life of the embedded store, whose observations go to the standard output.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use planesmith_store::Storage;
use planesmith_store_sled::SledLog;

use super::restarts::FILE;
use super::{last_time, next_id, runtime, store_in};
use crate::history::Recorder;
use crate::record::Record;
use crate::target::{self, Load, Target};
use planesmith_store::ManualClock;

/// The name of the child's command.
pub const COMMAND: &str = "child";

/// One life of a store in a folder.
#[derive(Clone, Debug, clap::Args)]
pub struct Child {
    folder: PathBuf,
    /// The seed of its load.
    seed: u64,
    /// Approximate number of calls.
    calls: usize,
    /// The number of the first call.
    first: u64,
    /// The time, in milliseconds since 1970.
    now: u64,
}

impl Child {
    /// The life in `folder` that follows after `records`.
    pub(super) fn after(records: &[Record], folder: &Path, random: &mut Rng, calls: usize) -> Self {
        Self {
            folder: folder.to_owned(),
            seed: random.u64(..),
            calls,
            first: next_id(records),
            now: last_time(records),
        }
    }

    /// Adds the arguments of the child to `command`.
    pub(super) fn pass_to(&self, command: &mut Command) {
        let numbers = [self.seed, self.calls as u64, self.first, self.now];
        command
            .arg(COMMAND)
            .arg(&self.folder)
            .args(numbers.map(|number| number.to_string()));
    }

    /// Lives.
    ///
    /// # Errors
    ///
    /// The store does not open.
    pub fn run(&self) -> Result<()> {
        let mut random = Rng::with_seed(self.seed);
        let recorder = Arc::new(Recorder::to_output(self.first)?);
        let clock = Arc::new(ManualClock::new(self.now));
        recorder.note(Record::Clock { now: self.now });
        let load = Load::random(&mut random, self.calls);
        let storage = open(&self.folder, &clock, &load)?;
        runtime()?.block_on(async {
            let target = Target::opened(storage, &clock, &recorder);
            target.live(&load, &mut random).await?;
            target.storage.close().await;
            Ok(())
        })
    }
}

/// Opens the store in `folder`.
pub(super) fn open(folder: &Path, clock: &Arc<ManualClock>, load: &Load) -> Result<Storage> {
    let log = SledLog::open(store_in(folder)).context("the folder does not open")?;
    let log = log.settling_at(0).rolling_at(FILE);
    Storage::open(log, &target::options(clock, load)).context("the store does not open")
}

/// Opens what a crash left in `folder`, and observes everything. Adds the observations to `records`; if the store does not
/// open, that is one.
pub(super) fn observe(folder: &Path, records: &mut Vec<Record>) -> Result<()> {
    let recorder = Arc::new(Recorder::new(next_id(records)));
    let clock = Arc::new(ManualClock::new(last_time(records)));
    let load = Load::random(&mut Rng::with_seed(next_id(records)), 1);
    match open(folder, &clock, &load) {
        Ok(storage) => runtime()?.block_on(async {
            let target = Target::opened(storage, &clock, &recorder);
            target.observe().await;
            target.storage.close().await;
        }),
        Err(error) => {
            let reason = format!("{error:#}");
            recorder.note(Record::Stuck { reason });
        }
    }
    records.extend(recorder.take());
    Ok(())
}
