//! Lookups of host names.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::Semaphore;

/// Maximum number of concurrent lookups; each uses one thread.
const THREADS: usize = 32;
/// Maximum time for a lookup, including the wait for a thread; the operating system waits longer for DNS servers that
/// do not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Looks up names, a few at a time. A lookup occupies one of the runtime's threads for blocking work until the
/// operating system returns, even if its result is no longer needed.
#[derive(Debug)]
pub(super) struct Lookups {
    threads: Arc<Semaphore>,
    patience: Duration,
}

/// The reason that there is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// The name has no address.
    Unknown,
    /// The lookup took too long.
    Late,
}

impl Lookups {
    fn new(threads: usize, patience: Duration) -> Self {
        Self {
            threads: Arc::new(Semaphore::new(threads)),
            patience,
        }
    }

    /// The lookups of names from objects. They cannot delay lookups of other names.
    pub(super) fn of_objects() -> &'static Self {
        static LOOKUPS: LazyLock<Lookups> = LazyLock::new(|| Lookups::new(THREADS, PATIENCE));
        &LOOKUPS
    }

    /// The lookups of names that administrators configured.
    pub(super) fn of_administrators() -> &'static Self {
        static LOOKUPS: LazyLock<Lookups> = LazyLock::new(|| Lookups::new(THREADS, PATIENCE));
        &LOOKUPS
    }

    /// Looks up `host`; the addresses have the port `port`.
    #[allow(clippy::disallowed_methods, reason = "destinations check the addresses")]
    pub(super) async fn find(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        let host = host.to_owned();
        self.find_by(move || (host.as_str(), port).to_socket_addrs().map(Iterator::collect))
            .await
    }

    async fn find_by(
        &self,
        resolve: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    ) -> Result<Vec<SocketAddr>, NoAddress> {
        let lookup = async {
            // The semaphore is never closed.
            let thread = Arc::clone(&self.threads).acquire_owned().await.ok();
            let found = tokio::task::spawn_blocking(move || {
                let found = resolve();
                drop(thread);
                found
            });
            found.await
        };
        match tokio::time::timeout(self.patience, lookup).await {
            Err(_) => Err(NoAddress::Late),
            Ok(Ok(Ok(found))) if !found.is_empty() => Ok(found),
            Ok(_) => Err(NoAddress::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn lookups_that_hang_are_given_up_and_bounded() {
        let lookups = Lookups::new(2, Duration::from_millis(20));
        let mut let_go = Vec::new();
        for _ in 0..2 {
            let (sender, receiver) = mpsc::channel::<()>();
            let_go.push(sender);
            let hangs = lookups.find_by(move || {
                let _ = receiver.recv();
                Ok(Vec::new())
            });
            assert_eq!(hangs.await, Err(NoAddress::Late));
        }
        let third = lookups.find_by(|| panic!("there is no thread for it"));
        assert_eq!(third.await, Err(NoAddress::Late));
        drop(let_go);
        let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let patient = Lookups {
            patience: Duration::from_secs(60),
            ..lookups
        };
        assert_eq!(patient.find_by(move || Ok(vec![address])).await, Ok(vec![address]));
        assert_eq!(patient.find_by(|| Ok(Vec::new())).await, Err(NoAddress::Unknown));
    }
}
