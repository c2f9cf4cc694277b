//! Times and revisions of a watch's bookmarks.

use std::time::Duration;

use planesmith_store::Revision;
use tokio::time::Instant;

/// Time from the last bookmark to the end of the watch, so that a client that resumes has few changes to catch up with.
/// A shorter watch gets none.
const BEFORE_THE_END: Duration = Duration::from_secs(2);
/// Time from the bookmark that closes the initial events to the next one.
const AFTER_THE_STATE: Duration = Duration::from_secs(1);

/// The bookmarks of one watch.
#[derive(Debug)]
pub(super) struct Bookmarks {
    interval: Duration,
    deadline: Instant,
    /// The revision that the client has from the beginning. A bookmark that is not newer is not sent, so a watch from a
    /// future version gets none before that version.
    known: Revision,
    /// True if the next bookmark comes soon.
    soon: bool,
}

impl Bookmarks {
    /// Returns one bookmark every `interval` for a watch until `deadline`, whose client has the state of `known`.
    pub(super) fn new(interval: Duration, deadline: Instant, known: Revision) -> Self {
        Self {
            interval,
            deadline,
            known,
            soon: false,
        }
    }

    /// The same for a client that gets the initial objects first, closed by a bookmark.
    pub(super) fn after_state(self) -> Self {
        Self { soon: true, ..self }
    }

    /// Time of the next bookmark; `None` when there are no more.
    pub(super) fn next(&mut self, now: Instant) -> Option<Instant> {
        if std::mem::take(&mut self.soon) {
            return Some((now + AFTER_THE_STATE).min(self.deadline));
        }
        let last = self.deadline.checked_sub(BEFORE_THE_END).filter(|last| *last > now)?;
        Some(last.min(now + self.interval))
    }

    /// True if a bookmark of `revision` is new to the client.
    pub(super) fn is_new(&self, revision: Revision) -> bool {
        revision > self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Times of the bookmarks of a watch that lasts `seconds`, in seconds after its beginning.
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
    fn known_revisions_are_not_sent_as_bookmarks() {
        let bookmarks = Bookmarks::new(MINUTE, Instant::now(), Revision(7));
        assert!(!bookmarks.is_new(Revision(7)));
        assert!(bookmarks.is_new(Revision(8)));
    }
}
