//! Keys that are due at a time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::{Duration, Instant};

/// The delays after which a key is retried.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// The delay after the first failure; doubled after each further one.
    pub first: Duration,
    /// The longest delay.
    pub longest: Duration,
}

/// The time at which a key is due; the number distinguishes keys of the same instant.
type Time = (Instant, u64);

/// Keys and the times at which they are due; each has one.
#[derive(Debug)]
pub struct DelayingQueue<K> {
    delays: Delays,
    by_time: BTreeMap<Time, K>,
    times: HashMap<K, Time>,
    /// The number of consecutive failures, by key.
    failures: HashMap<K, u32>,
    serial: u64,
}

impl<K: Clone + Eq + Hash> DelayingQueue<K> {
    /// Creates an empty queue in which keys are retried after `delays`.
    pub fn new(delays: Delays) -> Self {
        Self {
            delays,
            by_time: BTreeMap::new(),
            times: HashMap::new(),
            failures: HashMap::new(),
            serial: 0,
        }
    }

    /// Sets the time of a key, replacing an earlier one.
    pub fn put(&mut self, key: K, at: Instant) {
        self.drop_time(&key);
        self.serial += 1;
        let at = (at, self.serial);
        self.times.insert(key.clone(), at);
        self.by_time.insert(at, key);
    }

    /// Sets the time of a key that has none, or only a later one.
    pub fn add_before(&mut self, key: K, at: Instant) {
        if self.times.get(&key).is_none_or(|(time, _)| *time > at) {
            self.put(key, at);
        }
    }

    /// Sets the time of a failed key, the later the more often it has failed.
    pub fn retry(&mut self, key: K, now: Instant) {
        let failures = self.failures.entry(key.clone()).or_default();
        let Delays { first, longest } = self.delays;
        let delay = first.saturating_mul(1 << (*failures).min(20)).min(longest);
        *failures += 1;
        self.put(key, now + delay);
    }

    /// Removes the time and the failures of a key.
    pub fn forget(&mut self, key: &K) {
        self.failures.remove(key);
        self.drop_time(key);
    }

    fn drop_time(&mut self, key: &K) {
        if let Some(at) = self.times.remove(key) {
            self.by_time.remove(&at);
        }
    }

    /// Returns the time at which the next key is due.
    pub fn next_time(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|((at, _), _)| *at)
    }

    /// Removes and returns the keys that are due.
    pub fn take(&mut self, now: Instant) -> Vec<K> {
        let mut due = Vec::new();
        while let Some(first) = self.by_time.first_entry()
            && first.key().0 <= now
        {
            let key = first.remove();
            self.times.remove(&key);
            due.push(key);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> DelayingQueue<String> {
        DelayingQueue::new(Delays {
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
        })
    }

    #[test]
    fn keys_are_due_when_their_last_time_comes() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut queue = queue();
        for (key, seconds) in [("a", 5), ("b", 1), ("a", 3), ("c", 2)] {
            queue.put(key.to_owned(), at(seconds));
        }
        queue.forget(&"c".to_owned());
        queue.add_before("a".to_owned(), at(4));
        assert_eq!(queue.next_time(), Some(at(1)));
        assert_eq!(queue.take(at(2)), ["b"]);
        assert_eq!(queue.take(at(9)), ["a"]);
        assert_eq!(queue.next_time(), None);
    }

    #[test]
    fn retries_of_failures_are_delayed_more_each_time() {
        let start = Instant::now();
        let mut queue = queue();
        let mut waits = Vec::new();
        for _ in 0..8 {
            queue.retry("a".to_owned(), start);
            waits.push((queue.next_time().unwrap() - start).as_secs());
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        queue.forget(&"a".to_owned());
        queue.retry("a".to_owned(), start);
        assert_eq!(queue.next_time(), Some(start + Duration::from_secs(1)));
    }
}
