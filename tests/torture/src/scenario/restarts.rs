//! Several lives of a store in this process, with orderly restarts in between.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use fastrand::Rng;
use planesmith_store::log::Log;
use planesmith_store::{MemoryLog, OpenError, Storage};
use planesmith_store_sled::SledLog;

use super::faults::{Faults, Filling};
use super::{FIRST_TIME, Round, Scenario, Tally, runtime, store_in};
use crate::history::{History, Promises, Recorder};
use crate::record::Record;
use crate::target::{self, Load, Target};
use crate::temporary;
use planesmith_store::ManualClock;

/// Bytes of a journal file, so few that files are settled all the time.
pub(super) const FILE: u64 = 12 << 10;

/// The content of a store between its lives.
enum Content<'a> {
    Memory(MemoryLog),
    Failing(&'a Path, Arc<Faults>),
    Filling(&'a Path, Arc<Filling>),
}

impl Content<'_> {
    fn open(&self, clock: &Arc<ManualClock>, load: &Load) -> Result<Storage, OpenError> {
        let small = |log: SledLog| log.settling_at(0).rolling_at(FILE);
        let log: Box<dyn Log> = match self {
            Self::Memory(log) => Box::new(log.clone()),
            Self::Failing(folder, faults) => {
                let faults = Arc::clone(faults) as Arc<Faults>;
                Box::new(small(SledLog::open_faulty(store_in(folder), faults)?))
            }
            Self::Filling(folder, meter) => {
                let meter = Arc::clone(meter) as Arc<Filling>;
                Box::new(small(SledLog::open_measured(store_in(folder), meter)?))
            }
        };
        Storage::open(log, &target::options(clock, load))
    }

    /// Ends all faults.
    fn heal(&self) {
        match self {
            Self::Memory(_) => {}
            Self::Failing(_, faults) => faults.end(),
            Self::Filling(_, meter) => meter.end(),
        }
    }
}

pub(super) fn run(round: &Round<'_>, random: &mut Rng, tally: &mut Tally) -> Result<History> {
    let folder = temporary::folder()?;
    let faults = Arc::<Faults>::default();
    let content = match round.scenario {
        Scenario::Memory => Content::Memory(MemoryLog::new().keeping_history()),
        _ if random.u8(0..4) == 0 => Content::Filling(folder.path(), Arc::new(Filling::new(random))),
        _ => Content::Failing(folder.path(), Arc::clone(&faults)),
    };
    // A full disk has no space for history.
    let mut is_full = matches!(content, Content::Filling(..));
    let recorder = Arc::new(Recorder::new(1));
    let clock = Arc::new(ManualClock::new(FIRST_TIME));
    recorder.note(Record::Clock { now: FIRST_TIME });
    let runtime = runtime()?;
    let lives = random.usize(2..5);
    for life in 0..lives {
        let is_last = life + 1 == lives;
        match is_last {
            true => content.heal(),
            false => is_full |= faults.plan(random),
        }
        let load = Load::random(random, round.calls);
        let mut opened = content.open(&clock, &load);
        if opened.is_err() {
            // Without space or syncs a store need not open, but it has to afterwards.
            content.heal();
            opened = content.open(&clock, &load);
        }
        let storage = match opened {
            Ok(storage) => storage,
            Err(error) => {
                let reason = format!("the store does not open: {error}");
                recorder.note(Record::Stuck { reason });
                break;
            }
        };
        runtime.block_on(async {
            let target = Target::opened(storage, &clock, &recorder);
            target.observe().await;
            target.live(&load, random).await?;
            if is_last {
                target.expire().await?;
                target.observe().await;
            }
            target.storage.close().await;
            anyhow::Ok(())
        })?;
        faults.end();
    }
    tally.faults += faults.happened();
    Ok(History {
        promises: Promises {
            keeps_history: !is_full,
            reads_history: !is_full,
            ..Promises::EMBEDDED
        },
        records: recorder.take(),
    })
}
