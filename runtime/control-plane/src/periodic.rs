//! Work that is done at intervals.

use std::time::Duration;

use planesmith_server::shutdown::Shutdown;

use crate::loopback::LoopbackError;

/// One kind of work.
pub trait Periodic: Send + Sync + 'static {
    /// The name of the work in the log.
    const NAME: &'static str;

    /// The time between two runs.
    const INTERVAL: Duration;

    /// Does the work once.
    fn work(&self) -> impl Future<Output = Result<(), LoopbackError>> + Send;
}

/// Does the work now, and then at intervals until the server stops. After a failure it is done again at the next
/// time.
pub async fn run<P: Periodic>(periodic: P, mut shutdown: Shutdown) {
    loop {
        if let Err(error) = periodic.work().await {
            tracing::warn!(what = P::NAME, %error, "a periodic task failed; it is retried at its next time");
        }
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(P::INTERVAL) => {}
        }
    }
}
