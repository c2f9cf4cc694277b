//! How long a group waits for more writes.

use std::time::{Duration, Instant};

/// So many writes make a group that waits for nobody: more would hardly make one of them cheaper.
pub(super) const ENOUGH: usize = 8;

/// A group waits so long at most, however slow the disk is.
const MAX_PATIENCE: Duration = Duration::from_millis(2);

/// Writes further apart than this tell no more than that they are rare.
const MAX_GAP: Duration = Duration::from_millis(10);

/// How many writes, or syncs, the averages look back.
const WRITES: u32 = 16;
const SYNCS: u32 = 8;

/// How fast writes come, and how long it takes to make a group of them durable.
///
/// A sync costs the processor much more than a write does. Without patience the first write that comes after a sync gets one
/// for itself, and what comes meanwhile another, although all of them come again and again. A pause as long as a sync costs
/// no throughput: who would have waited for the sync of others waits for theirs. Writes that do not come fast
/// never wait.
#[derive(Debug)]
pub(super) struct Pace {
    last: Option<Instant>,
    gap: Duration,
    sync: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            last: None,
            gap: MAX_GAP,
            sync: Duration::ZERO,
        }
    }
}

impl Pace {
    /// Notes a write that comes `now`.
    pub(super) fn came(&mut self, now: Instant) {
        let last = self.last.replace(now);
        let gap = last.map_or(MAX_GAP, |last| now.saturating_duration_since(last).min(MAX_GAP));
        self.gap = average(self.gap, gap, WRITES);
    }

    /// Notes that a group was made durable.
    pub(super) fn synced(&mut self, took: Duration) {
        self.sync = average(self.sync, took.min(MAX_PATIENCE), SYNCS);
    }

    /// How long a group of `waiting` writes is to wait for more.
    pub(super) fn patience(&self, waiting: usize) -> Duration {
        // A lone writer comes back after its sync, not within it.
        let more_will_come = self.gap * 2 <= self.sync;
        match more_will_come && (1..ENOUGH).contains(&waiting) {
            true => self.sync,
            false => Duration::ZERO,
        }
    }
}

fn average(so_far: Duration, next: Duration, weight: u32) -> Duration {
    (so_far * (weight - 1) + next) / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNC: Duration = Duration::from_micros(800);

    /// After many writes and syncs.
    fn settled(gap: Duration) -> (Pace, Instant) {
        let mut pace = Pace::default();
        let mut now = Instant::now();
        for _ in 0..200 {
            now += gap;
            pace.came(now);
            pace.synced(SYNC);
        }
        (pace, now)
    }

    #[test]
    fn fast_writes_wait_for_each_other() {
        let (pace, _) = settled(SYNC / 4);
        let patience = pace.patience(1);
        assert!(patience > SYNC * 9 / 10 && patience <= SYNC, "{patience:?}");
        assert_eq!(pace.patience(ENOUGH - 1), patience);
        assert_eq!(pace.patience(ENOUGH), Duration::ZERO);
        assert_eq!(pace.patience(0), Duration::ZERO, "what ends by itself does not wait");
    }

    #[test]
    fn a_lone_writer_waits_for_nobody() {
        let (pace, _) = settled(SYNC + Duration::from_micros(50));
        assert_eq!(pace.patience(1), Duration::ZERO);
        assert_eq!(Pace::default().patience(1), Duration::ZERO);
    }

    #[test]
    fn a_pause_ends_the_patience() {
        let (mut pace, now) = settled(SYNC / 4);
        pace.came(now + Duration::from_secs(1));
        assert_eq!(pace.patience(1), Duration::ZERO);
    }

    #[test]
    fn slow_disks_try_nobodys_patience() {
        let (mut pace, _) = settled(SYNC / 4);
        for _ in 0..100 {
            pace.synced(Duration::from_secs(1));
        }
        assert!(pace.patience(1) <= MAX_PATIENCE);
    }
}
