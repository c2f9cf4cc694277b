//! Reads the state and the journal at the start, on several cores: checksums and copies need processor time.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use planesmith_store::log::{Batch, Loader, LogError, Record};

use crate::frame;
use crate::journal::{Journal, Recovery};
use crate::space::Space;
use crate::state::{GenerationSet, KeyHash, State};
use crate::worker::{self, Outcome, Pulse, Worker, other};

/// Time that loading waits for records before it checks that sled makes progress.
const STEP: Duration = Duration::from_millis(50);

/// Maximum number of generations that are read at the same time.
const READERS: usize = 4;

/// Maximum number of records that are passed on together.
const BATCH: usize = 8192;

/// Bytes of keys and objects after which batches of the journal are passed on, unless one batch has more: most batches are small, and passing
/// on each of them would wake a thread for little work.
const PARCEL: usize = 1 << 20;

/// Maximum number of parcels of the journal that wait for the loader, each of several MiB at most.
const WAITING_PARCELS: usize = 4;

/// A set of generations, and the hashes of the keys whose records count, in ascending order.
#[derive(Debug)]
struct Source {
    generation_set: Arc<GenerationSet>,
    hashes: Vec<RangeInclusive<u64>>,
}

impl Source {
    /// True if the record of a key with `hash` counts. Others belong to slots that were rewritten since.
    fn has(&self, hash: u64) -> bool {
        let after = self.hashes.partition_point(|hashes| *hashes.start() <= hash);
        let hashes = after.checked_sub(1).and_then(|place| self.hashes.get(place));
        hashes.is_some_and(|hashes| hashes.contains(&hash))
    }
}

/// The generations that are to be read, shared by the readers.
#[derive(Debug)]
struct Sources {
    all: Vec<Source>,
    hash: KeyHash,
    space: Space,
    /// The number of sources that are taken.
    taken: AtomicUsize,
}

impl Sources {
    fn new(state: &State, space: &Space) -> Self {
        let source = |generation_set: &Arc<GenerationSet>| Source {
            generation_set: Arc::clone(generation_set),
            hashes: state.hashes_in(generation_set).collect(),
        };
        Self {
            all: state.generation_sets().map(source).collect(),
            hash: state.hash(),
            space: space.clone(),
            taken: AtomicUsize::new(0),
        }
    }

    /// The number of generations that can be read at the same time: one per core, if there is space for the copies of those that
    /// sled reads.
    fn readers(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let copy = self.all.iter().map(|source| source.generation_set.size_of_copy()).max();
        let copies = self.space.free().checked_div(copy.unwrap_or(0));
        let copies = copies.map_or(usize::MAX, |copies| usize::try_from(copies).unwrap_or(usize::MAX));
        cores.min(READERS).min(self.all.len()).min(copies).max(1)
    }

    /// Reads sources until all are taken.
    fn read(&self, sender: &SyncSender<Vec<Record>>, pulse: &Pulse) -> Result<(), LogError> {
        while let Some(source) = self.all.get(self.taken.fetch_add(1, Ordering::Relaxed)) {
            let mut records = Vec::new();
            source.generation_set.read(&self.space, pulse, |record| {
                if source.has(self.hash.of(&record.key)) {
                    records.push(record);
                }
                match records.len() < BATCH {
                    true => Ok(()),
                    false => pass(std::mem::take(&mut records), sender),
                }
            })?;
            pass(records, sender)?;
        }
        Ok(())
    }
}

/// Passes on `records` in the order of their keys, which the reader's thread sorts.
fn pass(mut records: Vec<Record>, sender: &SyncSender<Vec<Record>>) -> Result<(), LogError> {
    records.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    sender.send(records).map_err(|_| other("the work was cancelled"))
}

/// Passes the records of the state to `loader`. They are read in threads of their own, because
/// sled, which reads some of them, may hang.
pub(crate) fn load(state: &State, space: &Space, loader: &mut dyn Loader) -> Result<(), LogError> {
    let sources = Arc::new(Sources::new(state, space));
    let count = sources.readers();
    let (sender, records) = sync_channel(count);
    let readers = (0..count).map(|_| {
        let (sources, sender) = (Arc::clone(&sources), sender.clone());
        Worker::start(move |pulse| sources.read(&sender, pulse))
    });
    let mut readers = readers.collect::<Result<Vec<_>, _>>()?;
    drop(sender);
    receive(&records, &mut readers, loader)?;
    // No reader passes on more, so each has ended or is about to.
    for reader in &mut readers {
        loop {
            match reader.wait(STEP) {
                Outcome::Running => {}
                Outcome::Done(result) => break result?,
                Outcome::Stuck => return Err(worker::stuck()),
            }
        }
    }
    Ok(())
}

/// Opens the journal, and passes its batches to `loader` as far as `state` does not include them. A thread of its own reads and
/// copies them: indexing takes about as long.
pub(crate) fn load_journal(
    recovery: Recovery<'_>,
    state: &State,
    loader: &mut dyn Loader,
) -> Result<Journal, LogError> {
    // Slots include the first writes of the journal, each up to another revision.
    let is_news = |record: &Record| {
        let part = state.part_of(&record.key);
        part.is_none_or(|part| record.revision > part.through)
    };
    let (sender, parcels) = sync_channel(WAITING_PARCELS);
    std::thread::scope(|scope| {
        let read = move || {
            let mut parcel = Parcel::default();
            let opened = recovery.open(|mut batch| {
                let news = batch.records.into_iter().filter(is_news);
                batch.records = news.map(frame::detached).collect();
                if parcel.add(batch) {
                    // Fails only if the loader has panicked, which ends the start.
                    let _ = sender.send(std::mem::take(&mut parcel));
                }
            });
            let _ = sender.send(parcel);
            opened
        };
        let reader = std::thread::Builder::new().name("store-load".to_owned());
        let reader = reader.spawn_scoped(scope, read);
        let reader = reader.map_err(|source| LogError::Io {
            context: "cannot start a thread".to_owned(),
            source,
        })?;
        // The receiver is dropped with the loop, also by a panic, so that the reader never waits for a loader that has ended.
        for parcel in parcels {
            parcel.batches.into_iter().for_each(|batch| loader.batch(batch));
        }
        match reader.join() {
            Ok(opened) => opened,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Batches of the journal that are passed on together.
#[derive(Default)]
struct Parcel {
    batches: Vec<Batch>,
    /// Bytes of their keys and objects.
    bytes: usize,
}

impl Parcel {
    /// Adds the batch, unless it is empty. Returns true if the parcel is full.
    fn add(&mut self, batch: Batch) -> bool {
        if !batch.records.is_empty() {
            let sizes = batch.records.iter().map(|record| record.key.len() + record.bytes.len());
            self.bytes += sizes.sum::<usize>();
            self.batches.push(batch);
        }
        self.bytes >= PARCEL
    }
}

/// Passes on records until no reader has any.
fn receive(
    records: &Receiver<Vec<Record>>,
    readers: &mut [Worker<()>],
    loader: &mut dyn Loader,
) -> Result<(), LogError> {
    loop {
        match records.recv_timeout(STEP) {
            Ok(records) => loader.states(records),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if readers.iter_mut().any(Worker::is_stuck) => return Err(worker::stuck()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
