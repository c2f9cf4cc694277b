//! Seeds that the plugin did not decrypt, and the times at which it is requested to again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::envelope::{Envelope, SeedId};

/// The delay after the first failure; each further one doubles it.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// The longest delay.
const MAX_DELAY: Duration = Duration::from_secs(10 * 60);
/// The time after the first failure at which a seed is given up, until one of its values is read again.
const GIVE_UP: Duration = Duration::from_secs(24 * 60 * 60);
/// Maximum number of seeds; those above are requested again when one of their values is read.
const CAPACITY: usize = 1024;

#[derive(Default)]
pub(super) struct Retries {
    by_id: HashMap<SeedId, Retry>,
}

struct Retry {
    envelope: Envelope,
    /// The time of the first failure.
    since: Instant,
    /// The delay after the last failure.
    delay: Duration,
    at: Instant,
}

impl Retries {
    /// Schedules the next attempt after a failure at `now`.
    pub(super) fn failed(&mut self, id: SeedId, envelope: Envelope, now: Instant) {
        let Some(retry) = self.entry(id, envelope, now) else {
            return;
        };
        retry.delay = match retry.delay {
            Duration::ZERO => FIRST_DELAY,
            delay => MAX_DELAY.min(2 * delay),
        };
        retry.at = now + retry.delay;
        if now.saturating_duration_since(retry.since) >= GIVE_UP {
            self.by_id.remove(&id);
        }
    }

    /// Schedules an attempt that was left out at `now` for the time after `delay`.
    pub(super) fn postponed(&mut self, id: SeedId, envelope: Envelope, now: Instant, delay: Duration) {
        if let Some(retry) = self.entry(id, envelope, now) {
            retry.at = now + delay;
        }
    }

    /// Forgets a seed, which is decrypted.
    pub(super) fn remove(&mut self, id: &SeedId) {
        self.by_id.remove(id);
    }

    /// The time of the next attempt; `None` without seeds.
    pub(super) fn next(&self) -> Option<Instant> {
        self.by_id.values().map(|retry| retry.at).min()
    }

    /// The seeds whose time has come at `now`, those that wait longest first.
    pub(super) fn due(&self, now: Instant) -> Vec<Envelope> {
        let mut due: Vec<&Retry> = self.by_id.values().filter(|retry| retry.at <= now).collect();
        due.sort_unstable_by_key(|retry| retry.at);
        due.into_iter().map(|retry| retry.envelope.clone()).collect()
    }

    /// The state of a seed; `None` if there are too many.
    fn entry(&mut self, id: SeedId, envelope: Envelope, now: Instant) -> Option<&mut Retry> {
        if self.by_id.len() >= CAPACITY && !self.by_id.contains_key(&id) {
            return None;
        }
        let entry = self.by_id.entry(id);
        Some(entry.or_insert_with(|| Retry {
            envelope,
            since: now,
            delay: Duration::ZERO,
            at: now,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn seed(number: usize) -> (SeedId, Envelope) {
        let source = number.to_le_bytes().to_vec();
        let envelope = Envelope::of_seed("key".to_owned(), source, BTreeMap::new()).unwrap();
        (envelope.seed_id(), envelope)
    }

    #[test]
    fn delays_double_up_to_a_bound_until_the_seed_is_given_up() {
        let (id, envelope) = seed(1);
        let start = Instant::now();
        let (mut retries, mut now) = (Retries::default(), start);
        let mut delays = Vec::new();
        loop {
            retries.failed(id, envelope.clone(), now);
            let Some(next) = retries.next() else { break };
            delays.push((next - now).as_secs());
            now = next;
            assert_eq!(retries.due(now).len(), 1);
        }
        assert_eq!(delays[..5], [1, 2, 4, 8, 16]);
        assert_eq!(delays.iter().max(), Some(&600));
        assert!(now - start >= GIVE_UP && now - start < GIVE_UP + MAX_DELAY);
    }

    #[test]
    fn a_postponed_attempt_counts_as_no_failure() {
        let ((one, first), (two, second)) = (seed(1), seed(2));
        let now = Instant::now();
        let mut retries = Retries::default();
        retries.postponed(one, first.clone(), now, Duration::from_secs(10));
        retries.failed(two, second.clone(), now);
        assert_eq!(retries.due(now + FIRST_DELAY), [second]);
        retries.remove(&two);
        assert_eq!(retries.next(), Some(now + Duration::from_secs(10)));
        retries.failed(one, first, now);
        assert_eq!(retries.next(), Some(now + FIRST_DELAY));
    }

    #[test]
    fn the_number_of_seeds_is_bounded() {
        let mut retries = Retries::default();
        let now = Instant::now();
        for number in 0..=CAPACITY {
            let (id, envelope) = seed(number);
            retries.failed(id, envelope, now);
        }
        assert_eq!(retries.due(now + FIRST_DELAY).len(), CAPACITY);
    }
}
