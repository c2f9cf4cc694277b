//! The threads and the signals of the process, for [`run`](crate::run()) alone: a [`Server`](crate::Server) takes neither.

use std::io;

use planesmith_server::task;
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::workers;

/// The process of a server or of a command.
#[derive(Debug)]
pub(crate) struct Process {
    runtime: Runtime,
}

impl Process {
    /// Starts the threads of the process.
    ///
    /// # Errors
    ///
    /// The operating system does not start a thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = workers::runtime().build()?;
        Ok(Self { runtime })
    }

    /// Returns the runtime of the process, for tasks of a command.
    pub(crate) fn runtime(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Calls `act` for each SIGTERM and SIGINT from now on; they do not end the process any more.
    ///
    /// # Errors
    ///
    /// The operating system does not let the process handle signals.
    pub(crate) fn on_stop_signal(&self, mut act: impl FnMut() + Send + 'static) -> io::Result<()> {
        let _context = self.runtime.enter();
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        task::spawn(async move {
            loop {
                tokio::select! {
                    signal = terminate.recv() => if signal.is_none() { return },
                    signal = interrupt.recv() => if signal.is_none() { return },
                }
                act();
            }
        });
        Ok(())
    }
}
