//! Writes that wait for the committer, and keys that wait for their expiry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::pace::Pace;
use crate::key::KeyedRow;
use crate::write::{Op, WriteError};
use crate::{Entry, Revision, Sequencer, Submission};
use planesmith_clock::Clock;

/// Maximum number of writes of one batch: more writes per fdatasync would make latency worse.
const BATCH_WRITES: usize = 1024;

/// Maximum bytes of one batch; one larger write is a batch of its own.
const BATCH_BYTES: usize = 4 << 20;

/// Approximate bytes of a record beside its key and object, and of a batch beside its records.
const RECORD_OVERHEAD: usize = 64;
const BATCH_OVERHEAD: usize = 256;

/// Time until an expiry that could not be written is tried again, in milliseconds.
const RETRY_MILLIS: u64 = 10_000;

/// A state that expires.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Expiry {
    /// Milliseconds since 1970.
    pub(crate) at: u64,
    /// The write of the state: a newer state of the key does not expire with it.
    pub(crate) revision: Revision,
    pub(crate) keyed_row: KeyedRow,
}

impl Expiry {
    pub(crate) fn of(entry: &Arc<Entry>) -> Option<Self> {
        let at = entry.expires()?;
        Some(Self {
            at,
            revision: entry.revision(),
            keyed_row: entry.keyed_row().clone(),
        })
    }
}

/// The next work of the committer.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) submissions: Vec<Submission>,
    pub(crate) expired: Vec<Expiry>,
    /// Approximate bytes of all of it once it is written.
    pub(crate) bytes: u64,
}

/// A submission, and the approximate bytes of its record.
#[derive(Debug)]
struct Waiting {
    submission: Submission,
    bytes: usize,
}

impl Waiting {
    fn new(submission: Submission) -> Self {
        // The record of a deletion contains the object.
        let object = match &submission.op {
            Op::Delete { key, last: None, .. } => submission.collection.get(key).map_or(0, |entry| entry.size()),
            Op::Delete { .. } | Op::Put { .. } | Op::Rewrite { .. } => 0,
        };
        let bytes = submission.op.size() + object + RECORD_OVERHEAD;
        Self { submission, bytes }
    }
}

/// The queue in front of the committer.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    write_limit: usize,
}

#[derive(Debug, Default)]
struct State {
    submissions: Vec<Waiting>,
    expiries: BinaryHeap<Reverse<Expiry>>,
    nudged: bool,
    closed: bool,
    pace: Pace,
    /// The number of submissions for which the committer waits.
    awaited: usize,
    /// The error of the last batch, until one is written.
    failure: Option<WriteError>,
}

impl Queue {
    pub(crate) fn new(write_limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            write_limit,
        }
    }

    /// Maximum bytes of one write.
    pub(crate) fn write_limit(&self) -> usize {
        self.write_limit
    }

    /// Schedules the expiry of these states.
    pub(crate) fn expect_expiry(&self, expiries: Vec<Expiry>) {
        if !expiries.is_empty() {
            self.lock().expiries.extend(expiries.into_iter().map(Reverse));
            self.filled.notify_one();
        }
    }

    /// Schedules the expiry of these states a little later, because it could not be written now.
    pub(crate) fn retry_expiries(&self, mut expiries: Vec<Expiry>, now: u64) {
        for expiry in &mut expiries {
            expiry.at = now + RETRY_MILLIS;
        }
        self.expect_expiry(expiries);
    }

    pub(crate) fn nudge(&self) {
        self.lock().nudged = true;
        self.filled.notify_one();
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
    }

    /// Records that the last batch was written, and its duration.
    pub(crate) fn note_synced(&self, took: Duration) {
        let mut state = self.lock();
        state.failure = None;
        state.pace.synced(took);
    }

    /// Records the error of the last batch.
    pub(crate) fn note_failure(&self, failure: WriteError) {
        self.lock().failure = Some(failure);
    }

    /// The error to be expected by a write that is submitted now.
    pub(crate) fn health(&self) -> Result<(), WriteError> {
        let state = self.lock();
        match &state.failure {
            _ if state.closed => Err(WriteError::Closed),
            Some(failure) => Err(failure.clone()),
            None => Ok(()),
        }
    }

    /// Refuses all queued and later submissions: the committer has ended.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.closed = true;
        // Dropping a submission answers it with `Closed`.
        state.submissions.clear();
    }

    /// Waits for work, and for more of it if waiting pays off; `None` when the queue is closed and empty.
    pub(crate) fn take(&self, clock: &dyn Clock) -> Option<Work> {
        let mut state = self.lock();
        loop {
            state = self.wait_for_group(state);
            let now = clock.unix_millis();
            let expired = state.expired(now);
            if !state.submissions.is_empty() || !expired.is_empty() {
                let batch = state.batch();
                state.pace.taken(batch.len());
                let bytes = batch.iter().map(|waiting| waiting.bytes).sum::<usize>();
                return Some(Work {
                    submissions: batch.into_iter().map(|waiting| waiting.submission).collect(),
                    bytes: (bytes + expired.len() * RECORD_OVERHEAD + BATCH_OVERHEAD) as u64,
                    expired,
                });
            }
            if state.closed {
                return None;
            }
            state.nudged = false;
            let due = state.expiries.peek().map(|Reverse(first)| first.at.saturating_sub(now));
            state = self.wait(state, due);
        }
    }

    /// Lets a group grow for as long as its pace allows.
    fn wait_for_group<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let Some(wait) = state.pace.group_wait(state.submissions.len()) else {
            return state;
        };
        if state.bytes() >= BATCH_BYTES {
            return state;
        }
        state.awaited = wait.until;
        let few = |state: &mut State| state.submissions.len() < wait.until && !state.closed;
        let waited = self.filled.wait_timeout_while(state, wait.most, few);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, due: Option<u64>) -> MutexGuard<'a, State> {
        let Some(due) = due else {
            return self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        // Expiry need not be precise: a second of slack lets many states expire together.
        let due = Duration::from_millis(due + 1000);
        let idle = |state: &mut State| state.submissions.is_empty() && !state.nudged && !state.closed;
        let waited = self.filled.wait_timeout_while(state, due, idle);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Bytes of all submissions.
    fn bytes(&self) -> usize {
        self.submissions.iter().map(|waiting| waiting.bytes).sum()
    }

    fn batch(&mut self) -> Vec<Waiting> {
        let mut bytes = 0;
        let fitting = self.submissions.iter().take(BATCH_WRITES).take_while(|waiting| {
            let first = bytes == 0;
            bytes += waiting.bytes;
            first || bytes <= BATCH_BYTES
        });
        let count = fitting.count();
        if count == self.submissions.len() {
            return std::mem::take(&mut self.submissions);
        }
        self.submissions.drain(..count).collect()
    }

    fn expired(&mut self, now: u64) -> Vec<Expiry> {
        let mut expired = Vec::new();
        while expired.len() < BATCH_WRITES
            && let Some(Reverse(first)) = self.expiries.peek()
            && first.at <= now
            && let Some(Reverse(first)) = self.expiries.pop()
        {
            expired.push(first);
        }
        expired
    }
}

impl Sequencer for Queue {
    fn submit(&self, submission: Submission) {
        // Reads the collection, so before the lock.
        let waiting = Waiting::new(submission);
        let mut state = self.lock();
        if state.closed {
            drop(state);
            // The caller may have been dropped.
            let _ = waiting.submission.reply.send(Err(WriteError::Closed));
            return;
        }
        state.pace.record_arrival(Instant::now());
        state.submissions.push(waiting);
        let count = state.submissions.len();
        let is_awaited = count == 1 || count == state.awaited;
        drop(state);
        if is_awaited {
            self.filled.notify_one();
        }
    }
}
