//! The shutdown signal.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::draining::{Member, WatchDrain};

/// Sends the shutdown signal; dropping it sends the signal, too.
#[derive(Debug)]
pub struct Stop {
    sender: watch::Sender<bool>,
    watches: Option<Arc<WatchDrain>>,
}

/// Receives the shutdown signal; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown {
    receiver: watch::Receiver<bool>,
    watches: Option<Arc<WatchDrain>>,
}

/// Receives the shutdown signal for one watch, which the server counts.
#[derive(Debug)]
pub(crate) struct WatchShutdown {
    shutdown: Shutdown,
    _member: Option<Member>,
}

impl Stop {
    /// Returns a sender and a receiver.
    #[must_use]
    pub fn new() -> (Self, Shutdown) {
        Self::with_watch_grace(Duration::ZERO)
    }

    /// Returns a sender and a receiver. Watches end one after the other within `grace` from the signal on; at once if it is zero.
    #[must_use]
    pub fn with_watch_grace(grace: Duration) -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        let watches = (!grace.is_zero()).then(|| WatchDrain::new(grace));
        let shutdown = Shutdown {
            receiver,
            watches: watches.clone(),
        };
        (Self { sender, watches }, shutdown)
    }

    /// Signals all receivers.
    pub fn now(&self) {
        if let Some(watches) = &self.watches {
            watches.begin();
        }
        self.sender.send_replace(true);
    }

    /// Waits until all watches have ended, for their grace period at most.
    pub async fn watches_ended(&self) {
        if let Some(watches) = &self.watches {
            watches.ended().await;
        }
    }
}

impl Shutdown {
    /// True if the signal was sent.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.receiver.borrow() || self.receiver.has_changed().is_err()
    }

    /// Waits for the signal. May be dropped and called again.
    pub async fn requested(&mut self) {
        // An error means that the sender was dropped, which is the same signal.
        let _ = self.receiver.wait_for(|stop| *stop).await;
    }

    /// The signal for one watch, in its turn.
    pub(crate) fn of_watch(self) -> WatchShutdown {
        WatchShutdown {
            _member: self.watches.as_ref().map(|watches| watches.join()),
            shutdown: self,
        }
    }
}

impl WatchShutdown {
    /// Waits until the watch is to end.
    pub(crate) async fn requested(&mut self) {
        self.shutdown.requested().await;
        if let Some(watches) = &self.shutdown.watches {
            tokio::time::sleep(watches.next()).await;
        }
    }
}
