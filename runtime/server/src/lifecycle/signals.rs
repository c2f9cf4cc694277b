//! The word to stop, from outside.

use std::io;

use tokio::sync::mpsc;

/// Words to stop: the first one means "in an orderly way", the second one "at once".
#[derive(Debug)]
pub struct Signals {
    receiver: mpsc::UnboundedReceiver<()>,
}

/// Says to stop.
#[derive(Clone, Debug)]
pub struct Signal {
    sender: mpsc::UnboundedSender<()>,
}

impl Signals {
    /// Words that are said by other code.
    #[must_use]
    pub fn manual() -> (Signal, Self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Signal { sender }, Self { receiver })
    }

    /// SIGTERM and SIGINT of this process, from now on.
    ///
    /// # Errors
    ///
    /// The operating system does not let the process listen.
    pub fn of_process() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (sender, signals) = Self::manual();
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    heard = terminate.recv() => if heard.is_none() { return },
                    heard = interrupt.recv() => if heard.is_none() { return },
                }
                sender.stop();
            }
        });
        Ok(signals)
    }

    /// Waits for the next word; forever when nobody can say it any more.
    pub(super) async fn next(&mut self) {
        if self.receiver.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

impl Signal {
    /// Says the word.
    pub fn stop(&self) {
        // Nobody listens any more: the server has stopped already.
        let _ = self.sender.send(());
    }
}
