//! The time after which rejected clients may come again.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest time, in seconds.
const LONGEST: u64 = 32;

/// The time after which rejected clients of one level may come again: it grows while many requests are rejected, and shrinks when
/// few are.
#[derive(Debug)]
pub(crate) struct RetryAfter(Mutex<Rejections>);

#[derive(Debug)]
struct Rejections {
    began: Instant,
    seconds: u64,
    /// The second of the last change.
    changed: u64,
    /// Numbers of rejections by second, oldest first; at most as many as the longest time has seconds.
    recent: VecDeque<(u64, u64)>,
}

impl RetryAfter {
    /// Begins with one second.
    pub(crate) fn new(now: Instant) -> Self {
        Self(Mutex::new(Rejections {
            began: now,
            seconds: 1,
            changed: 0,
            recent: VecDeque::new(),
        }))
    }

    /// Counts a rejection, and returns the seconds after which its client may come again.
    pub(crate) fn reject(&self, now: Instant) -> u64 {
        let mut rejections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rejections.count(now);
        rejections.seconds
    }
}

impl Rejections {
    fn count(&mut self, now: Instant) {
        let second = now.saturating_duration_since(self.began).as_secs();
        if second >= self.changed + self.seconds {
            self.change(second);
        }
        match self.recent.back_mut() {
            Some((last, count)) if *last == second => *count += 1,
            _ => self.recent.push_back((second, 1)),
        }
        while self.recent.front().is_some_and(|(oldest, _)| oldest + LONGEST < second) {
            self.recent.pop_front();
        }
    }

    /// Adapts the time to the rejections of the last seconds, as many as the time has.
    fn change(&mut self, second: u64) {
        let recent = self.recent.iter().filter(|(at, _)| at + self.seconds >= second);
        let rejected: u64 = recent.map(|(_, count)| count).sum();
        if rejected >= 3 * self.seconds {
            self.seconds = (2 * self.seconds).min(LONGEST);
        } else if rejected < self.seconds {
            self.seconds = (self.seconds - 1).max(1);
        }
        self.changed = second;
    }
}

/// The time that a request may wait for its seats: a quarter of the time until its `deadline`, and a minute at most. Without a
/// deadline it is a quarter of a minute.
#[must_use]
pub fn longest_wait(now: Instant, deadline: Option<Instant>) -> Duration {
    const MINUTE: Duration = Duration::from_secs(60);
    let left = deadline.map_or(MINUTE, |deadline| deadline.saturating_duration_since(now));
    (left / 4).min(MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rejections_send_clients_away_for_longer() {
        let begin = Instant::now();
        let retry = RetryAfter::new(begin);
        let mut told = Vec::new();
        for second in 0..20 {
            for part in 0..100 {
                told.push(retry.reject(begin + Duration::from_millis(second * 1000 + part)));
            }
        }
        assert!(told.is_sorted(), "{told:?}");
        assert_eq!((told[0], told[99], told[100]), (1, 1, 2));
        assert_eq!(told.last(), Some(&16));
        // One rejection in a long time.
        let mut later = begin + Duration::from_secs(100);
        let mut last = 16;
        while last > 1 {
            let now = retry.reject(later);
            assert_eq!(now, last - 1);
            last = now;
            later += Duration::from_secs(40);
        }
        assert_eq!(retry.reject(later), 1, "never less");
    }
}
