//! Watches: they begin now, in the past or in the future, end, and resume.

use std::time::Duration;

use fastrand::Rng;
use planesmith_store::conformance::THINGS;
use planesmith_store::{Event, EventKind, Revision, WatchError, WatchFrom, Watcher};
use tokio::sync::watch;

use crate::payload;
use crate::record::{Answer, Call, Change, Kind, Record};
use crate::target::Target;

/// Maximum time that the start of a watch waits for the newest state.
const DEADLINE: Duration = Duration::from_secs(10);

/// A client that watches.
#[derive(Debug)]
pub(crate) struct WatchClient {
    target: Target,
    random: Rng,
    /// The revision up to which everything was delivered, by any watch of this client.
    progress: Option<u64>,
}

/// Starts a watch and records it; `None` if its history is forgotten.
pub(crate) async fn start(target: &Target, from: WatchFrom) -> Option<(u64, Watcher)> {
    let after = match from {
        WatchFrom::Now => None,
        WatchFrom::After(revision) => Some(revision.0),
    };
    let id = target.recorder.call(|_| Call::Watch { after });
    if after.is_none() && target.storage.fresh(DEADLINE).await.is_err() {
        target.recorder.answer(id, Answer::Done);
        return None;
    }
    match target.things.watch(THINGS, from) {
        Ok(watcher) => {
            let after = watcher.progress().0;
            target.recorder.answer(id, Answer::Watching { after });
            Some((id, watcher))
        }
        Err(WatchError::Compacted { oldest }) => {
            target.recorder.answer(id, Answer::Compacted { oldest: oldest.0 });
            None
        }
        Err(WatchError::Closed) => {
            target.recorder.answer(id, Answer::Done);
            None
        }
    }
}

/// Records what the watch `id` delivered together. False if the watch has ended.
fn deliver(
    target: &Target,
    id: u64,
    watcher: &Watcher,
    delivered: Result<Vec<std::sync::Arc<Event>>, WatchError>,
) -> bool {
    match delivered {
        Ok(events) => {
            let events = events.iter().map(|event| change(event)).collect();
            target.recorder.note(Record::Batch {
                watch: id,
                events,
                progress: watcher.progress().0,
            });
            true
        }
        Err(WatchError::Compacted { oldest }) => {
            let oldest = oldest.0;
            target.recorder.note(Record::Cut { watch: id, oldest });
            false
        }
        Err(WatchError::Closed) => false,
    }
}

/// Reads everything that is there. False if the watch has ended.
pub(crate) fn drain(target: &Target, id: u64, watcher: &mut Watcher) -> bool {
    let newest = target.storage.revision().0;
    loop {
        let delivered = watcher.try_next();
        let is_end = delivered.as_ref().is_ok_and(Vec::is_empty);
        if !deliver(target, id, watcher, delivered) {
            return false;
        }
        if is_end {
            break;
        }
    }
    if watcher.progress().0 < newest {
        let reason = format!(
            "the watch #{id} has delivered everything, and is at revision {}, not {newest}",
            watcher.progress()
        );
        target.recorder.note(Record::Stuck { reason });
    }
    true
}

impl WatchClient {
    /// Returns a client whose watches follow from `random`.
    #[must_use]
    pub(crate) fn new(target: Target, random: Rng) -> Self {
        Self {
            target,
            random,
            progress: None,
        }
    }

    /// Watches until the clients have `ended`, with watches that begin again and again.
    pub(crate) async fn run(mut self, mut ended: watch::Receiver<bool>) {
        while !*ended.borrow() {
            let from = self.from();
            let Some((id, mut watcher)) = start(&self.target, from).await else {
                self.progress = None;
                tokio::task::yield_now().await;
                continue;
            };
            let batches = self.random.usize(1..12);
            let goes_on = self.read(id, &mut watcher, batches, &mut ended).await;
            self.progress = goes_on.then(|| watcher.progress().0);
            if goes_on && *ended.borrow() {
                drain(&self.target, id, &mut watcher);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Watches from the oldest revision until the clients have `ended`, without an interruption.
    pub(crate) async fn follow(mut self, mut ended: watch::Receiver<bool>) {
        while !*ended.borrow() {
            let from = WatchFrom::After(self.progress.map_or(self.target.storage.oldest(), Revision));
            let Some((id, mut watcher)) = start(&self.target, from).await else {
                self.progress = None;
                tokio::task::yield_now().await;
                continue;
            };
            let goes_on = self.read(id, &mut watcher, usize::MAX, &mut ended).await;
            self.progress = goes_on.then(|| watcher.progress().0);
            if goes_on {
                drain(&self.target, id, &mut watcher);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Reads up to `batches` deliveries. False if the watch has ended.
    async fn read(
        &mut self,
        id: u64,
        watcher: &mut Watcher,
        batches: usize,
        ended: &mut watch::Receiver<bool>,
    ) -> bool {
        for _ in 0..batches {
            let bytes = match self.random.u8(0..3) {
                0 => 1,
                1 => self.random.usize(1..10_000),
                _ => usize::MAX,
            };
            let delivered = tokio::select! {
                delivered = watcher.next_within(bytes) => delivered,
                _ = ended.wait_for(|ended| *ended) => return true,
            };
            if !deliver(&self.target, id, watcher, delivered) {
                return false;
            }
        }
        true
    }

    fn from(&mut self) -> WatchFrom {
        let storage = &self.target.storage;
        let (oldest, newest) = (storage.oldest().0, storage.revision().0);
        match (self.random.u8(0..10), self.progress) {
            (0..6, Some(progress)) => WatchFrom::After(Revision(progress)),
            (6, _) => WatchFrom::After(Revision(newest + self.random.u64(0..5))),
            (7 | 8, _) => WatchFrom::After(Revision(self.random.u64(oldest.min(newest)..=newest))),
            _ => WatchFrom::Now,
        }
    }
}

fn change(event: &Event) -> Change {
    let kind = match event.kind() {
        EventKind::Put { created: true } => Kind::Created,
        EventKind::Put { created: false } => Kind::Changed,
        EventKind::Delete => Kind::Deleted,
    };
    Change {
        kind,
        state: payload::state(THINGS, event.entry()),
        previous: event.previous().map(|entry| payload::state(THINGS, entry)),
    }
}
