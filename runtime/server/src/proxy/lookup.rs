//! Lookups of host names.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::task;
use tokio::sync::{Semaphore, watch};

/// Maximum number of concurrent lookups of each kind; each uses one thread.
const THREADS: usize = 32;
/// Maximum time for a lookup, including the wait for a thread; the operating system waits longer for DNS servers that
/// do not answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Resolves the names of hosts for all connections of one server; cheap to clone.
#[derive(Clone, Debug)]
pub struct NameResolver {
    /// Names from objects. Their lookups cannot delay those of other names.
    pub(super) of_objects: Arc<Lookups>,
    /// Names that administrators configured.
    pub(super) of_administrators: Arc<Lookups>,
}

impl Default for NameResolver {
    fn default() -> Self {
        let lookups = || Arc::new(Lookups::new(THREADS, TIMEOUT));
        Self {
            of_objects: lookups(),
            of_administrators: lookups(),
        }
    }
}

/// Looks up names, a few at a time. A lookup occupies one of the runtime's threads for blocking work until the
/// operating system returns, even if its result is no longer needed. Concurrent callers share the lookup of a host, so
/// that a host whose DNS server does not answer occupies one thread only.
#[derive(Debug)]
pub(super) struct Lookups {
    threads: Arc<Semaphore>,
    timeout: Duration,
    running: Arc<Mutex<Running>>,
}

/// The running lookups by host, with their results.
type Running = HashMap<String, watch::Receiver<Option<Found>>>;

/// The addresses of a host, with port 0.
type Found = Result<Vec<SocketAddr>, NoAddress>;

/// The reason that there is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAddress {
    /// The name has no address.
    Unknown,
    /// The lookup took too long.
    Late,
}

impl Lookups {
    fn new(threads: usize, timeout: Duration) -> Self {
        Self {
            threads: Arc::new(Semaphore::new(threads)),
            timeout,
            running: Arc::default(),
        }
    }

    /// Looks up `host`; the addresses have the port `port`.
    #[allow(clippy::disallowed_methods, reason = "destinations check the addresses")]
    pub(super) async fn find(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NoAddress> {
        let name = host.to_owned();
        let resolve = move || (name.as_str(), 0).to_socket_addrs().map(Iterator::collect);
        let mut found = self.find_by(host, resolve).await?;
        for address in &mut found {
            address.set_port(port);
        }
        Ok(found)
    }

    async fn find_by(
        &self,
        host: &str,
        resolve: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    ) -> Result<Vec<SocketAddr>, NoAddress> {
        let mut lookup = self.join(host, resolve);
        let found = tokio::time::timeout(self.timeout, lookup.wait_for(Option::is_some)).await;
        match found {
            Err(_) => Err(NoAddress::Late),
            Ok(Ok(found)) => found.clone().unwrap_or(Err(NoAddress::Unknown)),
            Ok(Err(_)) => Err(NoAddress::Unknown),
        }
    }

    /// Joins the running lookup of `host`, or starts one.
    fn join(
        &self,
        host: &str,
        resolve: impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    ) -> watch::Receiver<Option<Found>> {
        let mut running = lock(&self.running);
        if let Some(lookup) = running.get(host) {
            return lookup.clone();
        }
        let (sender, receiver) = watch::channel(None);
        running.insert(host.to_owned(), receiver.clone());
        let end = RemoveWhenDone {
            host: host.to_owned(),
            running: Arc::clone(&self.running),
        };
        let (threads, timeout) = (Arc::clone(&self.threads), self.timeout);
        task::spawn(async move {
            let _end = end;
            // No request waits longer for a lookup that has not begun. The semaphore is never closed.
            let Ok(Ok(thread)) = tokio::time::timeout(timeout, threads.acquire_owned()).await else {
                sender.send_replace(Some(Err(NoAddress::Late)));
                return;
            };
            let found = tokio::task::spawn_blocking(move || {
                let found = resolve();
                drop(thread);
                found
            });
            let found = match found.await {
                Ok(Ok(found)) if !found.is_empty() => Ok(found),
                Ok(_) | Err(_) => Err(NoAddress::Unknown),
            };
            sender.send_replace(Some(found));
        });
        receiver
    }
}

/// Removes the lookup of a host from the running ones.
struct RemoveWhenDone {
    host: String,
    running: Arc<Mutex<Running>>,
}

impl Drop for RemoveWhenDone {
    fn drop(&mut self) {
        lock(&self.running).remove(&self.host);
    }
}

fn lock(running: &Mutex<Running>) -> MutexGuard<'_, Running> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// A lookup that hangs until the sender is dropped.
    fn hanging() -> (
        mpsc::Sender<()>,
        impl FnOnce() -> io::Result<Vec<SocketAddr>> + Send + 'static,
    ) {
        let (sender, receiver) = mpsc::channel();
        let resolve = move || {
            let _ = receiver.recv();
            Ok(Vec::new())
        };
        (sender, resolve)
    }

    fn unreachable() -> io::Result<Vec<SocketAddr>> {
        panic!("no thread is free for this lookup")
    }

    #[tokio::test]
    async fn lookups_that_hang_are_given_up_and_bounded() {
        let lookups = Lookups::new(2, Duration::from_millis(20));
        let (first, resolve) = hanging();
        assert_eq!(lookups.find_by("one", resolve).await, Err(NoAddress::Late));
        let (second, resolve) = hanging();
        assert_eq!(lookups.find_by("two", resolve).await, Err(NoAddress::Late));
        assert_eq!(lookups.find_by("three", unreachable).await, Err(NoAddress::Late));
        drop((first, second));
        let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let lookups = Lookups {
            timeout: Duration::from_secs(60),
            ..lookups
        };
        assert_eq!(
            lookups.find_by("four", move || Ok(vec![address])).await,
            Ok(vec![address])
        );
        assert_eq!(
            lookups.find_by("five", || Ok(Vec::new())).await,
            Err(NoAddress::Unknown)
        );
    }

    #[tokio::test]
    async fn a_host_that_hangs_occupies_one_thread() {
        let lookups = Lookups::new(2, Duration::from_millis(20));
        let (let_go, resolve) = hanging();
        assert_eq!(lookups.find_by("dead", resolve).await, Err(NoAddress::Late));
        for _ in 0..3 {
            assert_eq!(lookups.find_by("dead", unreachable).await, Err(NoAddress::Late));
        }
        let address: SocketAddr = "127.0.0.1:1".parse().expect("an address");
        let lookups = Lookups {
            timeout: Duration::from_secs(60),
            ..lookups
        };
        assert_eq!(
            lookups.find_by("alive", move || Ok(vec![address])).await,
            Ok(vec![address])
        );
        drop(let_go);
    }
}
