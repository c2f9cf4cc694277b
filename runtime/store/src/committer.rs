//! Group commit: one thread decides the order of all writes.

mod notifier;
mod pace;
mod plan;
mod queue;

use std::sync::Arc;
use std::time::{Duration, Instant};

use self::notifier::Notifier;
pub(crate) use self::plan::KEY_LIMIT;
use self::plan::{Limits, Outcome, Plan};
use self::queue::Work;
pub(crate) use self::queue::{Expiry, Queue};
use crate::collections::Collections;
use crate::compactor::{Mark, Retention};
use crate::log::{Batch, Log, LogError};
use crate::revision_window::RevisionWindow;
use crate::write::WriteError;
use crate::{Revision, authorship};
use planesmith_clock::Clock;

/// Takes the queued writes, checks them, appends one batch, makes it durable, publishes it, answers, and wakes
/// watchers: durable before visible, visible before acknowledged.
pub(crate) struct Committer {
    queue: Arc<Queue>,
    log: Arc<dyn Log>,
    revisions: Arc<RevisionWindow>,
    retention: Retention,
    collections: Collections,
    clock: Arc<dyn Clock>,
    notifier: Notifier,
    /// The last revision that was assigned, durable or not.
    last: Revision,
    /// Bytes of all newest states.
    live: u64,
    /// Writes since the last run of settling that was requested here.
    unnoticed: usize,
}

impl Committer {
    pub(crate) fn new(
        queue: Arc<Queue>,
        log: Arc<dyn Log>,
        revisions: Arc<RevisionWindow>,
        retention: Retention,
        collections: Collections,
        clock: Arc<dyn Clock>,
        live: u64,
    ) -> Self {
        let last = revisions.visible();
        log.note_live(live);
        Self {
            queue,
            log,
            revisions,
            retention,
            collections,
            clock,
            notifier: Notifier::default(),
            last,
            live,
            unnoticed: 0,
        }
    }

    pub(crate) fn run(mut self) {
        let _abandoned = Abandon(Arc::clone(&self.queue));
        while let Some(work) = self.queue.take(&*self.clock) {
            let now = self.clock.unix_millis();
            let limits = Limits {
                write: self.queue.write_limit(),
                may_grow: self.has_room(&work),
            };
            let mut plan = Plan::new(self.last, now, limits);
            for submission in work.submissions {
                plan.add(submission);
            }
            for expiry in &work.expired {
                if let Some(collection) = self.collections.of(expiry.keyed_row.key()) {
                    plan.expire(&collection, expiry);
                }
            }
            self.last = plan.last();
            self.commit(plan, now, limits);
        }
    }

    /// True if there is space for `work`, if necessary after history is forgotten and settled.
    fn has_room(&self, work: &Work) -> bool {
        let has_room = || self.log.has_room(work.bytes);
        has_room() || self.retention.make_room(false, has_room)
    }

    /// Appends `batch`. If there is no space for it, writes that make nothing larger go into the reserve, and `outcome`
    /// refuses the rest.
    fn append(&self, batch: &mut Batch, limits: Limits, outcome: &mut Outcome) -> Result<(), LogError> {
        if !limits.may_grow {
            return self.append_from_reserve(batch);
        }
        match self.log.append(batch) {
            Err(error) if matches!(error.cause(), LogError::Full) => {
                if outcome.has_growth() {
                    // The lack of space was not detected before the batch was planned.
                    outcome.separate_growth(&mut batch.records);
                    if batch.records.is_empty() {
                        return Err(error);
                    }
                }
                // If the outcome of the whole batch is unknown, that of a part of it is, too, until the part is
                // written.
                self.append_from_reserve(batch).map_err(|second| match error {
                    LogError::Unknown { .. } => error,
                    _ => second,
                })
            }
            other => other,
        }
    }

    fn append_from_reserve(&self, batch: &Batch) -> Result<(), LogError> {
        match self.log.append_from_reserve(batch) {
            // Writes in the reserve so far may be settled.
            Err(error) if matches!(error.cause(), LogError::Full) => {
                self.retention.make_room(true, || false);
                let again = self.log.append_from_reserve(batch);
                again.map_err(|second| match error {
                    LogError::Unknown { .. } => error,
                    _ => second,
                })
            }
            other => other,
        }
    }

    fn commit(&mut self, plan: Plan, now: u64, limits: Limits) {
        let (records, mut outcome) = plan.finish();
        let begin = Instant::now();
        let mut synced = Duration::ZERO;
        if !records.is_empty() {
            let mut batch = Batch { at: now, records };
            if let Err(error) = self.append(&mut batch, limits, &mut outcome) {
                tracing::error!(%error, source = ?std::error::Error::source(&error), "a group of writes is refused, because the log cannot append it");
                if matches!(error.cause(), LogError::Full) {
                    self.log.note_full();
                }
                self.queue.retry_expiries(outcome.expired(), now);
                outcome.refuse(&refusal(&error));
                // The next write does not depend on the outcome of this one.
                self.queue.note_failure(refusal(error.cause()));
                return;
            }
            synced = begin.elapsed();
            self.queue.note_synced(synced);
            self.unnoticed += batch.records.len();
            self.live = outcome.live(self.live);
            self.log.note_live(self.live);
            let memory = outcome.publish();
            // Revisions after the last record were refused, and no start will find them.
            self.revisions
                .advance(batch.records.last().map_or(self.last, |last| last.revision));
            self.queue.expect_expiry(outcome.expiring());
            if let Some(mark) = Mark::from_batch(&batch, memory) {
                self.retention.marks.push(mark);
            }
            if self.unnoticed >= authorship::WORTH {
                // A collection may have become large.
                self.unnoticed = 0;
                self.retention.settling.request();
            }
        }
        if outcome.has_refused_growth() {
            self.log.note_full();
            self.queue.note_failure(WriteError::Full);
            self.queue.retry_expiries(outcome.superseded(), now);
        }
        outcome.answer(synced);
        // Writers do not wait until every watcher is woken.
        self.notifier.wake(outcome.into_published());
    }
}

/// Refuses all waiting writes when the committer ends, even if it panicked.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

fn refusal(error: &LogError) -> WriteError {
    match error {
        LogError::Full => WriteError::Full,
        LogError::ReadOnly(reason) => WriteError::ReadOnly(reason.as_str().into()),
        LogError::Unknown { cause } => WriteError::Io(cause.to_string().into()),
        LogError::Unreadable(_) | LogError::DataLoss(_) | LogError::InUse(_) | LogError::Io { .. } => {
            WriteError::Io(error.to_string().into())
        }
    }
}
