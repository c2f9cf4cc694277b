//! The shutdown signal.

use tokio::sync::watch;

/// Sends the shutdown signal; dropping it sends the signal, too.
#[derive(Debug)]
pub struct Stop {
    sender: watch::Sender<bool>,
}

/// Receives the shutdown signal; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown {
    receiver: watch::Receiver<bool>,
}

impl Stop {
    /// Returns a sender and a receiver.
    #[must_use]
    pub fn new() -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (Self { sender }, Shutdown { receiver })
    }

    /// Signals all receivers.
    pub fn now(&self) {
        self.sender.send_replace(true);
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
}
