//! What is to be looked at when a time has come.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

/// Keys and when their time comes; each has one.
#[derive(Debug, Default)]
pub(crate) struct Later {
    by_time: BTreeSet<(Instant, String)>,
    times: HashMap<String, Instant>,
}

impl Later {
    /// Sets the time of a key, in place of the one that it had.
    pub(crate) fn put(&mut self, key: String, at: Instant) {
        self.forget(&key);
        self.times.insert(key.clone(), at);
        self.by_time.insert((at, key));
    }

    /// Sets the time of a key that has none, or only a later one.
    pub(crate) fn hasten(&mut self, key: String, at: Instant) {
        if self.times.get(&key).is_none_or(|time| *time > at) {
            self.put(key, at);
        }
    }

    /// The key has no time any more.
    pub(crate) fn forget(&mut self, key: &str) {
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
    use std::time::Duration;

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
}
