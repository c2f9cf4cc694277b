//! The requests and watches that a stopping server waits for.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;

/// The longest time between the ends of two watches: 200 of them end in a second at least, as in kube-apiserver.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// A group whose members can be waited for.
#[derive(Debug)]
struct Group {
    members: watch::Sender<()>,
}

/// One member of a group, until it is dropped.
#[derive(Debug)]
pub(crate) struct Member {
    _receiver: watch::Receiver<()>,
}

impl Group {
    fn new() -> Self {
        Self {
            members: watch::Sender::new(()),
        }
    }

    fn join(&self) -> Member {
        Member {
            _receiver: self.members.subscribe(),
        }
    }

    fn count(&self) -> u32 {
        u32::try_from(self.members.receiver_count()).unwrap_or(u32::MAX)
    }

    async fn ended(&self) {
        self.members.closed().await;
    }
}

/// Counts the requests that a stopping server still answers while it turns new ones away.
#[derive(Debug)]
pub(crate) struct RequestDrain {
    turns_away: AtomicBool,
    requests: Group,
}

impl RequestDrain {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            turns_away: AtomicBool::new(false),
            requests: Group::new(),
        })
    }

    /// Turns new requests away from now on.
    pub(crate) fn begin(&self) {
        self.turns_away.store(true, Ordering::SeqCst);
    }

    /// True if new requests are turned away.
    pub(crate) fn turns_away(&self) -> bool {
        self.turns_away.load(Ordering::SeqCst)
    }

    /// Counts one more request.
    pub(crate) fn join(&self) -> Member {
        self.requests.join()
    }

    /// Waits until all requests are answered.
    pub(crate) async fn ended(&self) {
        self.requests.ended().await;
    }
}

/// Spreads the ends of watches over a grace period when the server stops: their clients begin others elsewhere.
#[derive(Debug)]
pub(crate) struct WatchDrain {
    grace: Duration,
    watches: Group,
    /// Time between the ends of two watches, once the server stops.
    pause: OnceLock<Duration>,
    ended: AtomicU32,
}

impl WatchDrain {
    pub(crate) fn new(grace: Duration) -> Arc<Self> {
        Arc::new(Self {
            grace,
            watches: Group::new(),
            pause: OnceLock::new(),
            ended: AtomicU32::new(0),
        })
    }

    /// Counts one more watch.
    pub(crate) fn join(&self) -> Member {
        self.watches.join()
    }

    /// Sets the pace for the watches that there are.
    pub(crate) fn begin(&self) {
        let even = self.grace / self.watches.count().max(1);
        self.pause.get_or_init(|| even.min(LONGEST_PAUSE));
    }

    /// The time after which the next watch ends. Watches that begin while the server stops end with the last one at the latest.
    pub(crate) fn next(&self) -> Duration {
        let turn = self.ended.fetch_add(1, Ordering::Relaxed);
        let pause = self.pause.get().copied().unwrap_or_default();
        pause.saturating_mul(turn).min(self.grace)
    }

    /// Waits until all watches have ended, for the grace period at most.
    pub(crate) async fn ended(&self) {
        if tokio::time::timeout(self.grace, self.watches.ended()).await.is_err() {
            tracing::warn!(grace = ?self.grace, watches = self.watches.count(), "some watches did not end in time");
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn pace(grace: Duration, watches: usize) -> [Duration; 3] {
        let drain = WatchDrain::new(grace);
        let running: Vec<Member> = (0..watches).map(|_| drain.join()).collect();
        drain.begin();
        let next = [drain.next(), drain.next(), drain.next()];
        drop(running);
        next
    }

    #[test]
    fn watches_end_one_after_the_other() {
        let ms = Duration::from_millis;
        assert_eq!(pace(ms(1000), 4), [ms(0), ms(5), ms(10)], "200 a second at least");
        assert_eq!(
            pace(ms(1000), 1000),
            [ms(0), ms(1), ms(2)],
            "all within the grace period"
        );
        assert_eq!(pace(ms(4), 1), [ms(0), ms(4), ms(4)], "late ones with the last one");
    }

    #[test]
    fn the_end_of_all_is_waited_for() {
        let drain = RequestDrain::new();
        let (one, two) = (drain.join(), drain.join());
        let mut ended = Box::pin(drain.ended());
        drop(one);
        assert_eq!(ended.as_mut().now_or_never(), None);
        drop(two);
        assert_eq!(ended.now_or_never(), Some(()));
    }
}
