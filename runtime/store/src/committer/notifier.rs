//! The calls that wake watchers.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::Collection;

/// Maximum number of calls that the committer makes itself: they take less time than passing them to a thread.
const FEW: usize = 32;

/// Wakes the watchers of published events: a few connections at once, many of them in a thread of its own, for which
/// the committer does not wait. The thread starts when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Notifier {
    thread: Option<Thread>,
}

#[derive(Debug)]
struct Thread {
    /// `None` ends the thread.
    work: Option<Sender<Arc<Collection>>>,
    handle: Option<JoinHandle<()>>,
}

impl Notifier {
    /// Wakes the watchers of the events that were published to `collections`.
    pub(super) fn wake(&mut self, collections: Vec<Arc<Collection>>) {
        for collection in collections {
            if collection.wake_calls() <= FEW {
                collection.wake();
            } else {
                self.hand_over(&collection);
            }
        }
    }

    fn hand_over(&mut self, collection: &Arc<Collection>) {
        if self.thread.is_none() {
            self.thread = Thread::start();
        }
        let work = self.thread.as_ref().and_then(|thread| thread.work.as_ref());
        match work.map(|work| work.send(Arc::clone(collection))) {
            Some(Ok(())) => {}
            // Slower, but no watcher misses an event.
            Some(Err(_)) | None => collection.wake(),
        }
    }
}

impl Thread {
    fn start() -> Option<Self> {
        let (work, collections) = channel::<Arc<Collection>>();
        let run = move || {
            while let Ok(collection) = collections.recv() {
                collection.wake();
            }
        };
        let started = std::thread::Builder::new().name("store-wake".to_owned()).spawn(run);
        let started = started.inspect_err(|error| tracing::warn!(%error, "the thread that wakes watchers cannot be started; the committer wakes them itself"));
        Some(Self {
            work: Some(work),
            handle: Some(started.ok()?),
        })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Watchers of all published events are woken before the store signals that it closes.
        drop(self.work.take());
        if self.handle.take().is_some_and(|handle| handle.join().is_err()) {
            tracing::error!("the thread that wakes watchers panicked");
        }
    }
}
