//! Histories: the observations of all clients of a store, and their records.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::record::{Answer, Call, Record};
use planesmith_store::ManualClock;

/// The promises that differ between stores.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// True if no two writes share a revision.
    pub unique_revisions: bool,
    /// True if a write of unknown outcome has its effect before the store is opened again or never, and never once a
    /// later write succeeded.
    pub outcomes_end: bool,
    /// True if history is forgotten on request only.
    pub keeps_history: bool,
    /// True if history can be read that is not forgotten. A full disk may have no space for reading it back, and a failing one may
    /// not open its files.
    pub reads_history: bool,
    /// True if every answer of a write has the state before it.
    pub previous_states: bool,
}

impl Promises {
    /// The promises of an embedded store.
    pub const EMBEDDED: Self = Self {
        unique_revisions: true,
        outcomes_end: true,
        keeps_history: true,
        reads_history: true,
        previous_states: true,
    };

    /// The promises of a store in which others write, too.
    pub const SHARED: Self = Self {
        unique_revisions: false,
        outcomes_end: false,
        keeps_history: false,
        reads_history: true,
        previous_states: false,
    };
}

/// All observations of the clients of one store, across its restarts.
#[derive(Clone, Debug)]
pub struct History {
    /// The promises to check.
    pub promises: Promises,
    /// The observations.
    pub records: Vec<Record>,
}

/// Marks the lines of [`Recorder::to_output`] among others.
const MARK: &str = "%% ";

/// Records observations, in the order in which they are made.
#[derive(Debug)]
pub struct Recorder {
    sink: Mutex<Sink>,
    next: AtomicU64,
}

#[derive(Debug)]
enum Sink {
    Memory(Vec<Record>),
    Output(File),
}

impl Recorder {
    /// Returns a recorder that numbers its calls from `first`.
    #[must_use]
    pub fn new(first: u64) -> Self {
        Self {
            sink: Mutex::new(Sink::Memory(Vec::new())),
            next: AtomicU64::new(first),
        }
    }

    /// Returns a recorder that writes each observation as a line to the standard output, without a buffer: a line that is
    /// there was observed, whatever happens to the process.
    ///
    /// # Errors
    ///
    /// There is no standard output.
    pub fn to_output(first: u64) -> io::Result<Self> {
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self {
            sink: Mutex::new(Sink::Output(output.into())),
            next: AtomicU64::new(first),
        })
    }

    /// The number of the next call.
    #[must_use]
    pub fn next_id(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Records one observation.
    pub fn note(&self, record: Record) {
        write(&mut self.sink(), record);
    }

    /// Sets the clock, and records that. Calls that are recorded afterwards see the new time: the checker knows from when on their
    /// states live.
    pub fn set_clock(&self, clock: &ManualClock, now: u64) {
        let mut sink = self.sink();
        write(&mut sink, Record::Clock { now });
        clock.set(now);
    }

    /// Records a call. Its object may contain its number, which `call` gets.
    pub fn call(&self, call: impl FnOnce(u64) -> Call) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.note(Record::Call { id, call: call(id) });
        id
    }

    /// Records the answer of a call.
    pub fn answer(&self, id: u64, answer: Answer) {
        self.note(Record::Return { id, answer });
    }

    /// Takes all observations so far.
    #[must_use]
    pub fn take(&self) -> Vec<Record> {
        match &mut *self.sink() {
            Sink::Memory(records) => std::mem::take(records),
            Sink::Output(_) => Vec::new(),
        }
    }

    fn sink(&self) -> MutexGuard<'_, Sink> {
        self.sink.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(sink: &mut Sink, record: Record) {
    match sink {
        Sink::Memory(records) => records.push(record),
        Sink::Output(output) => {
            let json = serde_json::to_string(&record).unwrap_or_default();
            let line = format!("{MARK}{json}\n");
            // The disk may be made to fail for every kind of call; the reader of this output needs each line.
            let mut attempts = 0;
            while output.write_all(line.as_bytes()).is_err() && attempts < 1000 {
                attempts += 1;
            }
        }
    }
}

/// Reads a line of [`Recorder::to_output`]; `None` for any other, and for one that is cut off.
#[must_use]
pub fn parse(line: &str) -> Option<Record> {
    serde_json::from_str(line.strip_prefix(MARK)?).ok()
}
