//! The calls that wake watchers.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use crate::Collection;

/// Calls that the committer makes itself: they take less than handing them over.
const FEW: usize = 32;

/// Wakes the watchers of published events: a few connections at once, many of them by a thread of its own, which the
/// committer does not wait for. The thread starts with the first that are many.
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
    /// Wakes the watchers of what was published to `collections`.
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
            // Slower, but nobody misses anything.
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
        let started = started.inspect_err(|error| tracing::warn!(%error, "the committer wakes all watchers itself"));
        Some(Self {
            work: Some(work),
            handle: Some(started.ok()?),
        })
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // Watchers of everything published are woken before the store tells them that it closes.
        drop(self.work.take());
        if self.handle.take().is_some_and(|handle| handle.join().is_err()) {
            tracing::error!("the thread that wakes watchers panicked");
        }
    }
}
