//! The torture finds stores that break their promises.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use planesmith_store::ManualClock;
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened};
use planesmith_store::{MemoryLog, Revision, Storage};
use planesmith_torture::check::{Promise, check};
use planesmith_torture::history::{History, Promises, Recorder};
use planesmith_torture::target::{Load, Target, options};

/// A backend with a fault in every tenth batch.
#[derive(Clone, Debug)]
struct Faulty {
    log: MemoryLog,
    fault: Fault,
    batches: Arc<AtomicU64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// None.
    Correct,
    /// The batch is acknowledged, but not stored.
    Lost,
    /// The batch is refused, but stored.
    Refused,
    /// One record is stored in part.
    Damaged,
}

impl Log for Faulty {
    fn load(&self, loader: &mut dyn Loader) -> Result<Opened, LogError> {
        self.log.load(loader)
    }

    fn append(&self, batch: &Batch) -> Result<(), LogError> {
        if self.batches.fetch_add(1, Ordering::Relaxed) % 10 < 9 {
            return self.log.append(batch);
        }
        match self.fault {
            Fault::Correct => self.log.append(batch),
            Fault::Lost => Ok(()),
            Fault::Refused => {
                self.log.append(batch)?;
                Err(LogError::ReadOnly("of the test".to_owned()))
            }
            Fault::Damaged => {
                let mut batch = batch.clone();
                let record = &mut batch.records[0];
                record.bytes = record.bytes.slice(..record.bytes.len() - 1);
                self.log.append(&batch)
            }
        }
    }

    fn compact(&self, floor: Revision) -> Result<bool, LogError> {
        self.log.compact(floor)
    }

    fn size(&self) -> u64 {
        self.log.size()
    }
}

/// The promises that two lives on a backend with `fault` break.
fn broken(fault: Fault) -> BTreeSet<Promise> {
    let log = Faulty {
        log: MemoryLog::new(),
        fault,
        batches: Arc::default(),
    };
    let recorder = Arc::new(Recorder::new(1));
    let clock = Arc::new(ManualClock::new(1_000_000_000_000));
    let mut random = Rng::with_seed(7);
    let load = Load {
        clients: 3,
        watches: 2,
        calls: 60,
        names: 40,
        largest: 20,
        compacts: false,
        jumps: false,
        history_bytes: usize::MAX,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        for _ in 0..2 {
            let storage = Storage::open(log.clone(), &options(&clock, &load)).unwrap();
            let target = Target::opened(storage, &clock, &recorder);
            target.observe().await;
            target.live(&load, &mut random).await.unwrap();
            target.storage.close().await;
        }
    });
    let history = History {
        promises: Promises::EMBEDDED,
        records: recorder.take(),
    };
    check(&history).into_iter().map(|finding| finding.promise).collect()
}

#[test]
fn lost_resurrected_and_damaged_writes_are_found() {
    assert_eq!(broken(Fault::Correct), BTreeSet::new());
    let lost = broken(Fault::Lost);
    assert!(!lost.is_empty());
    let refused = broken(Fault::Refused);
    assert!(refused.contains(&Promise::Intact), "{refused:?}");
    let damaged = broken(Fault::Damaged);
    assert!(damaged.contains(&Promise::Intact), "{damaged:?}");
}
