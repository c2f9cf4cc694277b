//! An open store under torture, and the load on it.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use planesmith_store::conformance::{THINGS, WordIndex};
use planesmith_store::{Collection, Storage, StorageOptions};

use crate::history::Recorder;
use crate::record::Record;
use planesmith_store::ManualClock;

/// The amount and the kind of work in one life.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Clients at the same time.
    pub clients: usize,
    /// Watches at the same time.
    pub watches: usize,
    /// Calls of each client.
    pub calls: usize,
    /// Number of keys.
    pub names: usize,
    /// Maximum bytes of an object.
    pub largest: usize,
    /// True if history is forgotten from time to time.
    pub compacts: bool,
    /// True if objects expire, and the clock jumps.
    pub jumps: bool,
    /// Maximum bytes of history in memory; the rest is read back from the disk.
    pub history_bytes: usize,
}

impl Load {
    /// Returns a load that follows from `random`, with about `calls` calls in all.
    pub fn random(random: &mut Rng, calls: usize) -> Self {
        let clients = random.usize(1..=8);
        Self {
            clients,
            watches: random.usize(1..=4),
            calls: (calls / clients).max(1),
            names: random.usize(2..=12),
            largest: [30, 300, 3000, 9000][random.usize(0..4)],
            compacts: random.u8(0..3) > 0,
            jumps: random.bool(),
            // Enough for the positions of all changes.
            history_bytes: [usize::MAX, 1 << 20, 192 << 10][random.usize(0..3)],
        }
    }
}

/// An open store, and what its clients share.
#[derive(Clone, Debug)]
pub struct Target {
    /// The store.
    pub storage: Storage,
    /// Its collection.
    pub things: Arc<Collection>,
    /// Its clock.
    pub clock: Arc<ManualClock>,
    /// Receives all observations.
    pub recorder: Arc<Recorder>,
}

/// The options of a store with `clock` for `load`, which keeps its history until the workload lets it forget.
#[must_use]
pub fn options(clock: &Arc<ManualClock>, load: &Load) -> StorageOptions {
    StorageOptions {
        window: Duration::from_secs(u32::MAX.into()),
        history_bytes: load.history_bytes,
        journal_bytes: u64::MAX,
        clock: Arc::clone(clock) as Arc<ManualClock>,
        ..StorageOptions::default()
    }
}

impl Target {
    /// Returns the target on `storage`, and records that it was opened.
    #[must_use]
    pub fn opened(storage: Storage, clock: &Arc<ManualClock>, recorder: &Arc<Recorder>) -> Self {
        let things = storage.collection(THINGS, Arc::new(WordIndex));
        recorder.note(Record::Opened {
            revision: storage.revision().0,
            oldest: storage.oldest().0,
        });
        Self {
            storage,
            things,
            clock: Arc::clone(clock),
            recorder: Arc::clone(recorder),
        }
    }
}
