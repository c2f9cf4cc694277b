//! A queue of keys to process, each once at a time, with retries after a delay.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use planesmith_server::metrics::{QueueMeter, Ticket};
use tokio::sync::Notify;

use crate::delaying_queue::{DelayingQueue, Delays};

/// A queue of keys.
#[derive(Debug)]
pub(crate) struct WorkQueue<K> {
    state: Mutex<State<K>>,
    woken: Notify,
    meter: Arc<QueueMeter>,
}

#[derive(Debug)]
struct State<K> {
    /// Keys that can be processed now, and since when they wait.
    ready: VecDeque<(K, Instant)>,
    queued: HashSet<K>,
    /// Keys that are being processed.
    in_flight: HashMap<K, InFlight>,
    /// Keys that wait to be retried.
    delayed: DelayingQueue<K>,
}

/// A key that is being processed.
#[derive(Debug)]
struct InFlight {
    ticket: Ticket,
    /// The time at which the key was added again; `None` if it was not.
    again: Option<Instant>,
}

/// The result of processing a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Nothing is left to do.
    Done,
    /// The key is to be processed again, after a delay that grows with each failure.
    Requeue,
}

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// Creates an empty queue with these delays; `meter` counts its keys.
    pub(crate) fn new(delays: Delays, meter: Arc<QueueMeter>) -> Self {
        Self {
            state: Mutex::new(State {
                ready: VecDeque::new(),
                queued: HashSet::new(),
                in_flight: HashMap::new(),
                delayed: DelayingQueue::new(delays),
            }),
            woken: Notify::new(),
            meter,
        }
    }

    /// Processes the keys of the queue, for ever, up to `at_once` at a time.
    pub(crate) async fn work<W: Future<Output = Outcome>>(&self, at_once: usize, reconcile: impl Fn(K) -> W) {
        let mut in_flight = FuturesUnordered::new();
        loop {
            while in_flight.len() < at_once
                && let Some(key) = self.take(Instant::now())
            {
                let reconciled = reconcile(key.clone());
                in_flight.push(async move { (key, reconciled.await) });
            }
            let next_time = self.next_time();
            let delayed = async {
                match next_time {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let is_full = in_flight.len() >= at_once;
            tokio::select! {
                Some((key, outcome)) = in_flight.next() => self.finish(key, outcome, Instant::now()),
                () = self.woken.notified(), if !is_full => {}
                () = delayed, if !is_full => {}
            }
        }
    }

    /// Adds keys that are not in the queue already.
    pub(crate) fn add(&self, keys: impl IntoIterator<Item = K>) {
        let now = Instant::now();
        let mut state = self.lock();
        let mut added = false;
        for key in keys {
            added |= state.add(key, now, &self.meter);
        }
        drop(state);
        if added {
            self.woken.notify_one();
        }
    }

    /// Takes the next key. No other caller gets it until [`WorkQueue::finish`].
    fn take(&self, now: Instant) -> Option<K> {
        let mut state = self.lock();
        for key in state.delayed.take(now) {
            state.add(key, now, &self.meter);
        }
        let (key, since) = state.ready.pop_front()?;
        state.queued.remove(&key);
        let ticket = self.meter.taken(now.saturating_duration_since(since), now);
        state.in_flight.insert(key.clone(), InFlight { ticket, again: None });
        Some(key)
    }

    /// Records the outcome of a key that was taken.
    fn finish(&self, key: K, outcome: Outcome, now: Instant) {
        let mut state = self.lock();
        let taken = state.in_flight.remove(&key);
        if let Some(taken) = &taken {
            self.meter.finished(&taken.ticket, now);
        }
        let again = taken.and_then(|taken| taken.again);
        match outcome {
            Outcome::Done => state.delayed.forget(&key),
            Outcome::Requeue => {
                self.meter.retried();
                state.delayed.retry(key.clone(), now);
            }
        }
        if let Some(since) = again {
            // It was counted when it was added.
            state.queue(key, since);
        }
    }

    /// Returns the time at which the next key is retried.
    fn next_time(&self) -> Option<Instant> {
        self.lock().delayed.next_time()
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    /// Adds a key that is not in the queue already. Returns true if it can be taken now.
    fn add(&mut self, key: K, now: Instant, meter: &QueueMeter) -> bool {
        if let Some(taken) = self.in_flight.get_mut(&key) {
            if taken.again.is_none() {
                taken.again = Some(now);
                meter.added();
            }
            return false;
        }
        let is_new = self.queue(key, now);
        if is_new {
            meter.added();
        }
        is_new
    }

    fn queue(&mut self, key: K, since: Instant) -> bool {
        let is_new = self.queued.insert(key.clone());
        if is_new {
            self.ready.push_back((key, since));
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use planesmith_server::metrics::Metrics;

    use super::*;

    const DELAYS: Delays = Delays {
        first: Duration::from_millis(5),
        longest: Duration::from_millis(15),
    };

    fn queue() -> WorkQueue<&'static str> {
        WorkQueue::new(DELAYS, Metrics::default().queue("test"))
    }

    #[test]
    fn a_key_is_looked_at_by_one_at_a_time() {
        let queue = queue();
        let now = Instant::now();
        queue.add(["a", "b", "a"]);
        assert_eq!(queue.take(now), Some("a"));
        queue.add(["a"]);
        assert_eq!(queue.take(now), Some("b"));
        assert_eq!(queue.take(now), None);
        queue.finish("a", Outcome::Done, now);
        assert_eq!(queue.take(now), Some("a"));
        queue.finish("a", Outcome::Done, now);
        assert_eq!(queue.take(now), None);
    }

    #[test]
    fn failures_wait_longer_each_time() {
        let queue = queue();
        let mut now = Instant::now();
        queue.add(["a"]);
        for round in 0..3 {
            assert_eq!(queue.take(now), Some("a"));
            queue.finish("a", Outcome::Requeue, now);
            assert_eq!(queue.take(now), None);
            let next = queue.next_time().unwrap();
            assert_eq!(next - now, (DELAYS.first * (1 << round)).min(DELAYS.longest));
            now = next;
        }
        assert_eq!(queue.take(now), Some("a"));
        queue.finish("a", Outcome::Done, now);
        assert_eq!(queue.next_time(), None);
    }

    #[test]
    fn a_key_that_is_touched_while_it_waits_waits_once() {
        let queue = queue();
        let mut now = Instant::now();
        for _ in 0..10 {
            now += Duration::from_millis(1);
            queue.add(["a"]);
            assert_eq!(queue.take(now), Some("a"));
            queue.finish("a", Outcome::Requeue, now);
        }
        now = queue.next_time().unwrap();
        assert_eq!(queue.take(now), Some("a"));
        queue.finish("a", Outcome::Done, now);
        assert_eq!(queue.next_time(), None);
    }

    #[tokio::test]
    async fn others_get_on_while_one_is_tried_again() {
        let queue = queue();
        let (report, mut reports) = tokio::sync::mpsc::unbounded_channel();
        queue.add(["bad", "good"]);
        let looking = queue.work(2, |key| {
            let _ = report.send(key);
            let outcome = if key == "bad" { Outcome::Requeue } else { Outcome::Done };
            std::future::ready(outcome)
        });
        let watching = async {
            let (mut bad, mut good) = (0, 0);
            while bad < 3 || good < 3 {
                match reports.recv().await {
                    Some("bad") => bad += 1,
                    // Frequent changes do not postpone a retry.
                    _ => {
                        good += 1;
                        tokio::task::yield_now().await;
                        queue.add(["good"]);
                    }
                }
            }
        };
        tokio::select! {
            () = looking => {}
            () = watching => {}
        }
    }
}
