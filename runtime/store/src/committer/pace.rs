//! The time that a group waits for more writes.

use std::time::{Duration, Instant};

/// Number of writes at which a group waits no longer: more would hardly make a single one cheaper.
const MAX_GROUP: usize = 8;

/// Maximum time that a group waits, however slow the disk is.
const MAX_WAIT: Duration = Duration::from_millis(2);

/// Longer gaps between writes count as this long.
const MAX_GAP: Duration = Duration::from_millis(10);

/// Number of writes in the moving average of gaps.
const WRITES: u32 = 16;

/// Number of syncs in the moving average of syncs. If it is at most [`WRITES`], and at least half of that, the averages
/// of a lone writer keep their relation also when the disk becomes faster or slower: its gaps include its syncs.
const SYNCS: u32 = 8;

/// The rate of incoming writes, and the time that it takes to make a group of them durable.
///
/// A sync costs the processor much more than a write does. Without waiting, the first write after a sync would get a
/// sync for itself, and those that arrive meanwhile another, although all writers return again and again. A group waits
/// until the writers that the last sync has answered are back, and at most for the duration of a sync. Infrequent
/// writes never wait.
#[derive(Debug)]
pub(super) struct Pace {
    last: Option<Instant>,
    /// The newest gap between two writes, and the average gap.
    newest: Duration,
    gap: Duration,
    sync: Duration,
    /// Number of writes of the last group.
    group: usize,
}

/// The condition on which a group stops waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupWait {
    /// The number of writes to wait for.
    pub(super) until: usize,
    /// The maximum time to wait.
    pub(super) most: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            last: None,
            newest: MAX_GAP,
            gap: MAX_GAP,
            sync: Duration::ZERO,
            group: 0,
        }
    }
}

impl Pace {
    /// Records a write that arrives at `now`.
    pub(super) fn record_arrival(&mut self, now: Instant) {
        let last = self.last.replace(now);
        self.newest = last.map_or(MAX_GAP, |last| now.saturating_duration_since(last).min(MAX_GAP));
        self.gap = average(self.gap, self.newest, WRITES);
    }

    /// Records that a group is being written.
    pub(super) fn taken(&mut self, group: usize) {
        self.group = group;
    }

    /// Records that a group was made durable.
    pub(super) fn synced(&mut self, took: Duration) {
        self.sync = average(self.sync, took.min(MAX_WAIT), SYNCS);
    }

    /// The condition for a group of `waiting` writes to stop waiting; `None` when it is written at once.
    pub(super) fn group_wait(&self, waiting: usize) -> Option<GroupWait> {
        let until = (waiting + self.group).min(MAX_GROUP);
        // A lone writer returns after its sync, not during it; and nothing is known of writers after a pause.
        let more_will_come = self.gap * 2 <= self.sync && self.newest <= self.sync;
        let most = self.sync;
        (more_will_come && waiting > 0 && waiting < until).then_some(GroupWait { until, most })
    }
}

fn average(so_far: Duration, next: Duration, weight: u32) -> Duration {
    (so_far * (weight - 1) + next) / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Duration = Duration::from_micros(800);

    /// After many writes with one gap, in groups of one size.
    fn settled(gap: Duration, group: usize) -> (Pace, Instant) {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        for _ in 0..200 {
            now += gap;
            pace.record_arrival(now);
            pace.taken(group);
            pace.synced(SYNC);
        }
        (pace, now)
    }

    #[test]
    fn fast_writes_wait_for_those_that_were_answered_last() {
        let (pace, _) = settled(SYNC / 4, 3);
        let group_wait = pace.group_wait(2).expect("more will come");
        assert!(
            group_wait.most > SYNC * 9 / 10 && group_wait.most <= SYNC,
            "{group_wait:?}"
        );
        assert_eq!(group_wait.until, 5);
        assert_eq!(pace.group_wait(7).map(|group_wait| group_wait.until), Some(MAX_GROUP));
        assert_eq!(pace.group_wait(MAX_GROUP), None);
        assert_eq!(pace.group_wait(0), None, "what ends by itself does not wait");
    }

    #[test]
    fn a_lone_writer_waits_for_nobody() {
        let (mut pace, mut now) = settled(SYNC + Duration::from_micros(50), 1);
        assert_eq!(pace.group_wait(1), None);
        assert_eq!(Pace::default().group_wait(1), None);
        // The disk becomes slow, fast and slow again.
        for (round, sync) in [SYNC * 2, SYNC / 8, SYNC * 2].into_iter().enumerate() {
            for write in 0..100 {
                now += sync + Duration::from_micros(20);
                pace.record_arrival(now);
                assert_eq!(pace.group_wait(1), None, "write {write} of round {round}");
                pace.taken(1);
                pace.synced(sync);
            }
        }
    }

    #[test]
    fn no_group_waits_after_a_pause() {
        let (mut pace, now) = settled(Duration::from_micros(10), 4);
        for _ in 0..100 {
            pace.synced(MAX_WAIT);
        }
        assert!(pace.group_wait(1).is_some());
        pace.record_arrival(now + Duration::from_secs(1));
        assert_eq!(pace.group_wait(1), None);
    }

    #[test]
    fn slow_disks_delay_no_group_for_long() {
        let (mut pace, _) = settled(SYNC / 4, 4);
        for _ in 0..100 {
            pace.synced(Duration::from_secs(1));
        }
        assert!(pace.group_wait(1).is_some_and(|group_wait| group_wait.most <= MAX_WAIT));
    }
}
