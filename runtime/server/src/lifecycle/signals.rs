//! Signals that stop the server.

use tokio::sync::mpsc;

/// Signals that stop the server: the first one shuts it down in order, the second one at once.
#[derive(Debug)]
pub struct Signals {
    receiver: mpsc::UnboundedReceiver<()>,
}

/// Sends the signal to stop.
#[derive(Clone, Debug)]
pub struct Signal {
    sender: mpsc::UnboundedSender<()>,
}

impl Signals {
    /// Returns signals that other code sends.
    #[must_use]
    pub fn manual() -> (Signal, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Signal { sender }, Self { receiver })
    }

    /// Waits for the next signal; pends once all senders are dropped.
    pub(super) async fn next(&mut self) {
        if self.receiver.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

impl Signal {
    /// Sends the signal.
    pub fn stop(&self) {
        // The receiver is dropped: the server has stopped already.
        let _ = self.sender.send(());
    }
}
