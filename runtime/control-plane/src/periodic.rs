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
        let outcome = tokio::select! {
            biased;
            () = shutdown.requested() => return,
            outcome = periodic.work() => outcome,
        };
        if let Err(error) = outcome {
            tracing::warn!(what = P::NAME, %error, "a periodic task failed; it is retried at its next time");
        }
        tokio::select! {
            () = shutdown.requested() => return,
            () = tokio::time::sleep(P::INTERVAL) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_server::shutdown::Stop;

    use super::*;

    /// Work that never ends.
    struct Endless;

    impl Periodic for Endless {
        const NAME: &'static str = "endless";
        const INTERVAL: Duration = Duration::from_secs(1);

        async fn work(&self) -> Result<(), LoopbackError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn work_under_way_ends_with_the_server() {
        let (stop, shutdown) = Stop::new();
        let running = tokio::spawn(run(Endless, shutdown));
        tokio::task::yield_now().await;
        assert!(!running.is_finished());
        stop.now();
        running.await.unwrap();
    }
}
