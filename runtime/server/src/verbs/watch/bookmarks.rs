//! When a watch gets bookmarks, and which it gets.

use std::time::Duration;

use planesmith_store::Revision;
use tokio::time::Instant;

/// The last bookmark comes this long before the end, so that a client that goes on has little to catch up with. A watch that
/// does not last longer gets none.
const BEFORE_THE_END: Duration = Duration::from_secs(2);
/// Behind the bookmark that closes the initial events the next one comes after this time.
const AFTER_THE_STATE: Duration = Duration::from_secs(1);

/// The bookmarks of one watch.
#[derive(Debug)]
pub(super) struct Bookmarks {
    interval: Duration,
    deadline: Instant,
    /// What the client knows from the beginning. A bookmark that says no more is not sent, which is also why a watch from a
    /// version to come gets none before that version.
    known: Revision,
    /// The next one comes soon.
    soon: bool,
}

impl Bookmarks {
    /// One every `interval` for a watch until `deadline`, whose client begins with what it knows of `known`.
    pub(super) fn new(interval: Duration, deadline: Instant, known: Revision) -> Self {
        Self {
            interval,
            deadline,
            known,
            soon: false,
        }
    }

    /// The same for a client that gets the state first, closed by a bookmark.
    pub(super) fn after_state(self) -> Self {
        Self { soon: true, ..self }
    }

    /// When the next bookmark is due; `None` when there is none any more.
    pub(super) fn next(&mut self, now: Instant) -> Option<Instant> {
        if std::mem::take(&mut self.soon) {
            return Some((now + AFTER_THE_STATE).min(self.deadline));
        }
        let last = self.deadline.checked_sub(BEFORE_THE_END).filter(|last| *last > now)?;
        Some(last.min(now + self.interval))
    }

    /// Whether a bookmark of `revision` tells the client anything.
    pub(super) fn tells(&self, revision: Revision) -> bool {
        revision > self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// When bookmarks of a watch come that lasts so many seconds, in seconds after its beginning.
    fn times(seconds: u64, after_state: bool) -> Vec<u64> {
        let begin = Instant::now();
        let mut bookmarks = Bookmarks::new(MINUTE, begin + Duration::from_secs(seconds), Revision(1));
        if after_state {
            bookmarks = bookmarks.after_state();
        }
        let mut now = begin;
        let mut times = Vec::new();
        while let Some(next) = bookmarks.next(now) {
            times.push((next - begin).as_secs());
            now = next;
        }
        times
    }

    #[test]
    fn they_come_every_minute_and_two_seconds_before_the_end() {
        assert_eq!(times(150, false), [60, 120, 148]);
        assert_eq!(times(10, false), [8]);
    }

    #[test]
    fn a_short_watch_gets_none() {
        assert_eq!(times(2, false), Vec::<u64>::new());
        assert_eq!(times(3, false), [1]);
    }

    #[test]
    fn one_follows_the_state_soon() {
        assert_eq!(times(100, true), [1, 61, 98]);
    }

    #[test]
    fn what_the_client_knows_is_not_told() {
        let bookmarks = Bookmarks::new(MINUTE, Instant::now(), Revision(7));
        assert!(!bookmarks.tells(Revision(7)));
        assert!(bookmarks.tells(Revision(8)));
    }
}
