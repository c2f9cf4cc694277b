//! Limits the number of open connections, and selects the connection that is closed for a new one.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::activity::Activity;

/// Interval between searches for a connection to close while a new one waits.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The places of all connections of a listener.
///
/// When all are taken, a new connection gets the place of the connection that was without a request for the longest
/// time: clients with unused connections block no others, least of all health checks.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    /// Minimum time without a request before a connection is closed for another one.
    quiet: Duration,
    taken: Mutex<HashMap<u64, Arc<Seat>>>,
    next: AtomicU64,
}

/// A connection that can be asked to close.
#[derive(Debug)]
struct Seat {
    activity: Arc<Activity>,
    is_leaving: AtomicBool,
    leave: Notify,
}

/// The place of one connection, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    /// The permit, while the socket is open.
    pub(super) permit: Option<OwnedSemaphorePermit>,
    pub(super) seated: Seated,
}

/// Registers a connection as one that can be asked to close, until this is dropped.
#[derive(Debug)]
pub(super) struct Seated {
    places: Arc<Places>,
    number: u64,
    seat: Arc<Seat>,
}

impl Places {
    /// Returns `count` places; a connection may be closed once it has had no request for `quiet`.
    pub(super) fn new(count: usize, quiet: Duration) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(count)),
            quiet,
            taken: Mutex::default(),
            next: AtomicU64::new(0),
        })
    }

    /// Waits for the permit of a new connection, and asks a quiet one to close if there is none.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => self.wait().await,
        }
    }

    /// The place of a connection that has just been opened.
    pub(super) fn seat(self: &Arc<Self>, permit: Option<OwnedSemaphorePermit>) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let seat = Arc::new(Seat {
            activity: Arc::new(Activity::new()),
            is_leaving: AtomicBool::new(false),
            leave: Notify::new(),
        });
        self.lock().insert(number, Arc::clone(&seat));
        Place {
            permit,
            seated: Seated {
                places: Arc::clone(self),
                number,
                seat,
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
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Asks the connection that was without a request for the longest time to close; false if all are in use.
    pub(super) fn close_quietest(&self) -> bool {
        let taken = self.lock();
        let idle = taken.values().filter(|seat| !seat.is_leaving.load(Ordering::Relaxed));
        let idle = idle.filter_map(|seat| Some((seat.activity.quiet()?, seat)));
        let quietest = idle
            .max_by_key(|(quiet, _)| *quiet)
            .filter(|(quiet, _)| *quiet >= self.quiet);
        let Some((_, seat)) = quietest else { return false };
        seat.is_leaving.store(true, Ordering::Relaxed);
        seat.leave.notify_one();
        true
    }

    /// Waits until all `count` places are free.
    pub(super) async fn all_free(&self, count: usize) {
        let all = u32::try_from(count).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        drop(self.free.acquire_many(all).await);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<Seat>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seated {
    /// Counts the requests of the connection.
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.seat.activity
    }

    /// Pends until the connection is asked to close.
    pub(super) async fn asked_to_leave(&self) {
        self.seat.leave.notified().await;
    }

    /// Lets the connection be asked again, because a request arrived meanwhile.
    pub(super) fn stay(&self) {
        self.seat.is_leaving.store(false, Ordering::Relaxed);
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.places.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn a_new_connection_gets_the_place_of_the_quietest() {
        let places = Places::new(2, Duration::ZERO);
        let busy = places.seat(places.permit().await);
        let running = busy.seated.activity().begin();
        let idle = places.seat(places.permit().await);
        let mut next = std::pin::pin!(places.permit());
        assert!(next.as_mut().now_or_never().is_none());
        assert!(busy.seated.asked_to_leave().now_or_never().is_none());
        idle.seated.asked_to_leave().now_or_never().expect("it is idle");
        drop(idle);
        let next = places.seat(next.await);

        let running_too = next.seated.activity().begin();
        assert!(!places.close_quietest(), "both are in use");
        drop(running_too);
        assert!(places.close_quietest());
        assert!(!places.close_quietest(), "it is asked once");
        next.seated.stay();
        assert!(places.close_quietest());
        drop((running, busy, next));
        places.all_free(2).now_or_never().expect("nobody is left");
    }

    #[tokio::test]
    async fn a_connection_that_has_just_come_stays() {
        let places = Places::new(1, Duration::from_secs(3600));
        let _new = places.seat(places.permit().await);
        assert!(!places.close_quietest());
        assert!(places.permit().now_or_never().is_none());
    }
}
