//! A cache of decisions with time limits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use planesmith_access::authorization::Decision;

/// The most cached decisions; kube-apiserver's value.
const CAPACITY: usize = 8192;

/// Decisions by question. When there are many, those that were not used for the longest time are dropped.
#[derive(Debug, Default)]
pub(super) struct DecisionCache {
    /// Locked for a lookup.
    generations: Mutex<Generations>,
}

/// Decisions that were used lately, and those that were used before. Each generation has half of the places.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<String, Cached>,
    old: HashMap<String, Cached>,
}

#[derive(Debug)]
struct Cached {
    decision: Decision,
    until: Instant,
}

impl DecisionCache {
    /// Returns the cached decision, if it is still valid at `now`.
    pub(super) fn get(&self, question: &str, now: Instant) -> Option<Decision> {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((question, cached)) = generations.old.remove_entry(question) {
            generations.put(question, cached);
        }
        let cached = generations.young.get(question)?;
        (now < cached.until).then(|| cached.decision.clone())
    }

    /// Caches a decision for the time `ttl` from `now` on; not at all if that is zero.
    pub(super) fn put(&self, question: String, decision: &Decision, now: Instant, ttl: Duration) {
        let Some(until) = now.checked_add(ttl).filter(|_| !ttl.is_zero()) else {
            return;
        };
        let decision = decision.clone();
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.put(question, Cached { decision, until });
    }
}

impl Generations {
    fn put(&mut self, question: String, cached: Cached) {
        if self.young.len() >= CAPACITY / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(question, cached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    #[test]
    fn a_decision_is_valid_for_its_time() {
        let cache = DecisionCache::default();
        let now = Instant::now();
        cache.put("q".to_owned(), &Decision::ALLOW, now, TTL);
        cache.put("never".to_owned(), &Decision::ALLOW, now, Duration::ZERO);
        assert_eq!(cache.get("q", now + TTL / 2), Some(Decision::ALLOW));
        assert_eq!(cache.get("q", now + TTL), None);
        assert_eq!((cache.get("other", now), cache.get("never", now)), (None, None));
    }

    #[test]
    fn decisions_that_are_used_stay() {
        let cache = DecisionCache::default();
        let now = Instant::now();
        cache.put("used".to_owned(), &Decision::ALLOW, now, TTL);
        cache.put("unused".to_owned(), &Decision::ALLOW, now, TTL);
        for number in 0..2 * CAPACITY {
            cache.put(number.to_string(), &Decision::ALLOW, now, TTL);
            assert!(cache.get("used", now).is_some());
        }
        assert!(cache.get("unused", now).is_none());
        let generations = cache.generations.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= CAPACITY);
    }
}
