//! What is to be looked at when a time has come.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// How long after its first failure a key comes again; twice as long after each further one.
const FIRST_RETRY: Duration = Duration::from_secs(1);

/// How long it waits at most.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Keys and when their time comes; each has one.
#[derive(Debug, Default)]
pub(crate) struct Later {
    by_time: BTreeSet<(Instant, String)>,
    times: HashMap<String, Instant>,
    /// How often in a row keys have failed.
    failures: HashMap<String, u32>,
}

impl Later {
    /// Sets the time of a key, in place of the one that it had.
    pub(crate) fn put(&mut self, key: String, at: Instant) {
        self.drop_time(&key);
        self.times.insert(key.clone(), at);
        self.by_time.insert((at, key));
    }

    /// Sets the time of a key that has none, or only a later one.
    pub(crate) fn hasten(&mut self, key: String, at: Instant) {
        if self.times.get(&key).is_none_or(|time| *time > at) {
            self.put(key, at);
        }
    }

    /// Sets the time of a key that failed, the later the more often that was so. What happens to other keys, or to this
    /// one, does not put it off.
    pub(crate) fn retry(&mut self, key: String, now: Instant) {
        let failures = self.failures.entry(key.clone()).or_default();
        let delay = FIRST_RETRY.saturating_mul(1 << (*failures).min(10)).min(LONGEST_RETRY);
        *failures += 1;
        self.put(key, now + delay);
    }

    /// The key has no time any more, and has not failed.
    pub(crate) fn forget(&mut self, key: &str) {
        self.failures.remove(key);
        self.drop_time(key);
    }

    fn drop_time(&mut self, key: &str) {
        if let Some((key, at)) = self.times.remove_entry(key) {
            self.by_time.remove(&(at, key));
        }
    }

    /// When the next time comes.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes out those whose time has come.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<String> {
        let mut due = Vec::new();
        while let Some((at, _)) = self.by_time.first()
            && *at <= now
            && let Some((_, key)) = self.by_time.pop_first()
        {
            self.times.remove(&key);
            due.push(key);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_due_when_their_last_time_comes() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut later = Later::default();
        for (key, seconds) in [("a", 5), ("b", 1), ("a", 3), ("c", 2)] {
            later.put(key.to_owned(), at(seconds));
        }
        later.forget("c");
        later.hasten("a".to_owned(), at(4));
        assert_eq!(later.next_time(), Some(at(1)));
        assert_eq!(later.take(at(2)), ["b"]);
        assert_eq!(later.take(at(9)), ["a"]);
        assert_eq!(later.next_time(), None);
    }

    #[test]
    fn what_fails_comes_again_later_each_time() {
        let start = Instant::now();
        let mut later = Later::default();
        let mut waits = Vec::new();
        for _ in 0..8 {
            later.retry("a".to_owned(), start);
            waits.push((later.next_time().unwrap() - start).as_secs());
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        later.forget("a");
        later.retry("a".to_owned(), start);
        assert_eq!(later.next_time(), Some(start + FIRST_RETRY));
    }
}
