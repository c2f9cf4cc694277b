//! Limits the number of open connections, and selects the connection that is closed for a new one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::activity::Activity;

/// Interval between searches for a connection to close while a new one waits.
const SEARCH_INTERVAL: Duration = Duration::from_millis(250);

/// The slots of all connections of a listener.
///
/// When all are taken, a new connection gets the slot of the connection that was without a request for the longest
/// time: clients with unused connections block no others, least of all health checks.
#[derive(Debug)]
pub(super) struct ConnectionSlots {
    free: Arc<Semaphore>,
    /// Minimum time without a request before a connection is closed for another one.
    quiet: Duration,
    taken: Mutex<HashMap<u64, Arc<OpenConnection>>>,
    next: AtomicU64,
}

/// A connection that can be closed for another one.
#[derive(Debug)]
struct OpenConnection {
    activity: Arc<Activity>,
    is_closing: AtomicBool,
    close: Notify,
}

/// The slot of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionSlot {
    /// The permit, while the socket is open.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    pub(super) registration: Registration,
}

/// Registers a connection as one that can be closed for another one, until this is dropped.
#[derive(Debug)]
pub(super) struct Registration {
    slots: Arc<ConnectionSlots>,
    number: u64,
    connection: Arc<OpenConnection>,
}

impl ConnectionSlots {
    /// Returns `count` slots; a connection may be closed once it has had no request for `quiet`.
    pub(super) fn new(count: usize, quiet: Duration) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(count)),
            quiet,
            taken: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Waits for the permit of a new connection, and has a quiet one closed if there is none.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => self.wait().await,
        }
    }

    /// The slot of a connection that has just been opened.
    pub(super) fn register(self: &Arc<Self>, permit: Option<OwnedSemaphorePermit>) -> ConnectionSlot {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(OpenConnection {
            activity: Arc::new(Activity::new()),
            is_closing: AtomicBool::new(false),
            close: Notify::new(),
        });
        self.lock().insert(number, Arc::clone(&connection));
        ConnectionSlot {
            permit,
            registration: Registration {
                slots: Arc::clone(self),
                number,
                connection,
            },
        }
    }

    async fn wait(&self) -> Option<OwnedSemaphorePermit> {
        let mut free = std::pin::pin!(Arc::clone(&self.free).acquire_owned());
        loop {
            self.close_quietest();
            tokio::select! {
                biased;
                // The semaphore is never closed.
                permit = free.as_mut() => return permit.ok(),
                () = tokio::time::sleep(SEARCH_INTERVAL) => {}
            }
        }
    }

    /// Asks the connection that was without a request for the longest time to close; false if all are in use.
    pub(super) fn close_quietest(&self) -> bool {
        let taken = self.lock();
        let idle = taken
            .values()
            .filter(|connection| !connection.is_closing.load(Ordering::Relaxed));
        let idle = idle.filter_map(|connection| Some((connection.activity.quiet()?, connection)));
        let quietest = idle
            .max_by_key(|(quiet, _)| *quiet)
            .filter(|(quiet, _)| *quiet >= self.quiet);
        let Some((_, connection)) = quietest else { return false };
        connection.is_closing.store(true, Ordering::Relaxed);
        connection.close.notify_one();
        true
    }

    /// Waits until all `count` slots are free.
    pub(super) async fn all_free(&self, count: usize) {
        let all = u32::try_from(count).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        drop(self.free.acquire_many(all).await);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<OpenConnection>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registration {
    /// Counts the requests of the connection.
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.connection.activity
    }

    /// Pends until the connection is to close.
    pub(super) async fn close_requested(&self) {
        self.connection.close.notified().await;
    }

    /// Lets the connection be chosen again, because a request arrived meanwhile.
    pub(super) fn keep_open(&self) {
        self.connection.is_closing.store(false, Ordering::Relaxed);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.slots.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_new_connection_gets_the_slot_of_the_quietest() {
        let slots = ConnectionSlots::new(2, Duration::ZERO);
        let busy = slots.register(slots.permit().await);
        let running = busy.registration.activity().begin();
        let idle = slots.register(slots.permit().await);
        let mut next = std::pin::pin!(slots.permit());
        assert!(next.as_mut().now_or_never().is_none());
        assert!(busy.registration.close_requested().now_or_never().is_none());
        idle.registration.close_requested().now_or_never().expect("it is idle");
        drop(idle);
        let next = slots.register(next.await);

        let running_too = next.registration.activity().begin();
        assert!(!slots.close_quietest(), "both are in use");
        drop(running_too);
        assert!(slots.close_quietest());
        assert!(!slots.close_quietest(), "it is asked once");
        next.registration.keep_open();
        assert!(slots.close_quietest());
        drop((running, busy, next));
        slots.all_free(2).now_or_never().expect("nobody is left");
    }

    #[tokio::test]
    async fn a_connection_that_has_just_come_stays() {
        let slots = ConnectionSlots::new(1, Duration::from_secs(3600));
        let _new = slots.register(slots.permit().await);
        assert!(!slots.close_quietest());
        assert!(slots.permit().now_or_never().is_none());
    }
}
