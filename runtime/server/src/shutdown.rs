//! The word that the server stops.

use tokio::sync::watch;

/// Says to stop; dropping it says so too.
#[derive(Debug)]
pub struct Stop {
    sender: watch::Sender<bool>,
}

/// Hears that the server stops; cheap to clone.
#[derive(Clone, Debug)]
pub struct Shutdown {
    receiver: watch::Receiver<bool>,
}

impl Stop {
    /// A pair of speaker and listener.
    #[must_use]
    pub fn new() -> (Self, Shutdown) {
        let (sender, receiver) = watch::channel(false);
        (Self { sender }, Shutdown { receiver })
    }

    /// Tells all listeners.
    pub fn now(&self) {
        self.sender.send_replace(true);
    }
}

impl Shutdown {
    /// Whether the word has been said.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        *self.receiver.borrow() || self.receiver.has_changed().is_err()
    }

    /// Waits for the word. May be dropped and called again.
    pub async fn requested(&mut self) {
        // An error means that the speaker is gone, which is the same message.
        let _ = self.receiver.wait_for(|stop| *stop).await;
    }
}
