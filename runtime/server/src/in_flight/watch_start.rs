//! The seats of a watch.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Seats;
use crate::own_task::OwnTask;

/// The seats of a watch until it has started. Clones share them, and the last one frees them.
#[derive(Clone)]
pub(crate) struct WatchStart(Arc<Mutex<Option<Box<dyn Seats>>>>);

/// The seats of a watch that sends its initial events. They are freed when this is dropped, or after a time limit: a client that
/// does not read keeps the watch from being polled, but not the timer.
#[derive(Debug)]
pub(crate) struct TimedStart {
    start: WatchStart,
    _timer: OwnTask<()>,
}

impl WatchStart {
    pub(crate) fn new(seats: Box<dyn Seats>) -> Self {
        Self(Arc::new(Mutex::new(Some(seats))))
    }

    /// Frees the seats.
    pub(crate) fn finish(&self) {
        let seats = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(seats);
    }

    /// The same seats for at most `limit`.
    pub(crate) fn within(self, limit: Duration) -> TimedStart {
        let start = self.clone();
        let timer = OwnTask::run(async move {
            tokio::time::sleep(limit).await;
            start.finish();
        });
        TimedStart {
            start: self,
            _timer: timer,
        }
    }
}

impl Drop for TimedStart {
    fn drop(&mut self) {
        self.start.finish();
    }
}

impl fmt::Debug for WatchStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchStart").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use planesmith_access::user::UserInfo;
    use tokio::sync::oneshot;

    use super::*;

    /// Seats whose end closes the channel.
    #[derive(Debug)]
    struct ObservedSeats(#[expect(dead_code, reason = "the receiver sees that it is dropped")] oneshot::Sender<()>);

    impl Seats for ObservedSeats {
        fn keep_while_sending(&mut self, _: &Arc<UserInfo>) -> bool {
            true
        }
    }

    fn start() -> (WatchStart, oneshot::Receiver<()>) {
        let (sender, receiver) = oneshot::channel();
        (WatchStart::new(Box::new(ObservedSeats(sender))), receiver)
    }

    #[tokio::test]
    async fn a_watch_that_is_not_polled_gives_its_seats_back() {
        let (start, free) = start();
        let timed = start.clone().within(Duration::from_millis(1));
        assert!(free.await.is_err(), "the seats are dropped");
        drop((timed, start));
    }

    #[tokio::test]
    async fn a_watch_that_ends_keeps_no_seats() {
        let (start, mut free) = start();
        let timed = start.clone().within(Duration::from_secs(3600));
        assert!((&mut free).now_or_never().is_none());
        drop(timed);
        assert!(free.now_or_never().is_some_and(|freed| freed.is_err()));
        drop(start);
    }
}
