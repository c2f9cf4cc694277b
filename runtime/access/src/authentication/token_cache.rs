//! A cache of recently reviewed tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use planesmith_machinery::clock::Clock;
use ring::hmac::{self, Context, HMAC_SHA256};
use ring::rand::SystemRandom;

/// The number of shards, each with its own lock; a power of two.
const SHARDS: usize = 32;
/// The capacity of a shard. If it is full of unexpired tokens, the shard is cleared.
const CAPACITY: usize = 1024;

/// Observes lookups and verifications of tokens.
pub trait TokenCacheObserver: Send + Sync + fmt::Debug {
    /// Reports a lookup; `hit` if it was served from the cache.
    fn requested(&self, hit: bool, took: Duration);

    /// Reports a verification and its result.
    fn verified(&self, valid: bool);

    /// Reports that a request begins (1) or stops (-1) to wait for a verification by another server. The request either
    /// `leads`, and so sends the request, or waits for the answer to that of another request.
    fn waiting(&self, leads: bool, change: i64);
}

/// The digest of a token and the audiences that it is reviewed for.
pub type TokenKey = [u8; 32];

/// Results of reviews, by keyed digests: the tokens themselves are not stored, and a copy of the memory does not help to guess
/// them.
pub struct TokenCache<V> {
    parts: [Mutex<HashMap<TokenKey, Entry<V>>>; SHARDS],
    digest: hmac::Key,
    clock: Arc<dyn Clock>,
}

struct Entry<V> {
    value: V,
    since: SystemTime,
    until: SystemTime,
}

impl<V> Entry<V> {
    /// An entry from the future, after the clock was set back, is invalid.
    fn holds(&self, now: SystemTime) -> bool {
        self.since <= now && now < self.until
    }
}

impl<V: Clone> TokenCache<V> {
    /// Creates an empty cache, which reads the time from `clock`.
    ///
    /// # Panics
    ///
    /// The operating system provides no random bytes.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let digest = hmac::Key::generate(HMAC_SHA256, &SystemRandom::new());
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
            digest: digest.expect("the operating system has random bytes"),
            clock,
        }
    }

    /// Returns the clock.
    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the key of a token that is reviewed for `audiences`. Each text is preceded by its length, so that different
    /// inputs have different keys.
    #[must_use]
    pub fn key(&self, token: &str, audiences: &[String]) -> TokenKey {
        let mut context = Context::with_key(&self.digest);
        for text in std::iter::once(token).chain(audiences.iter().map(String::as_str)) {
            context.update(&text.len().to_le_bytes());
            context.update(text.as_bytes());
        }
        let mut key = TokenKey::default();
        key.copy_from_slice(context.sign().as_ref());
        key
    }

    /// Returns the cached value, if it is still valid.
    #[must_use]
    pub fn get(&self, key: &TokenKey) -> Option<V> {
        let now = self.clock.now();
        let part = self.part(key).lock().unwrap_or_else(PoisonError::into_inner);
        let entry = part.get(key)?;
        entry.holds(now).then(|| entry.value.clone())
    }

    /// Caches a value for the time to live `ttl`, but not longer than until `end`.
    pub fn put(&self, key: TokenKey, value: V, ttl: Duration, end: Option<SystemTime>) {
        let since = self.clock.now();
        let latest = since.checked_add(ttl).unwrap_or(since);
        let until = end.map_or(latest, |end| end.min(latest));
        let entry = Entry { value, since, until };
        let mut part = self.part(&key).lock().unwrap_or_else(PoisonError::into_inner);
        if part.len() >= CAPACITY {
            part.retain(|_, old| old.holds(since));
        }
        if part.len() >= CAPACITY {
            part.clear();
        }
        part.insert(key, entry);
    }

    fn part(&self, key: &TokenKey) -> &Mutex<HashMap<TokenKey, Entry<V>>> {
        &self.parts[usize::from(key[0]) % SHARDS]
    }
}

impl<V> fmt::Debug for TokenCache<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use planesmith_machinery::clock::ManualClock;

    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    /// Returns an empty cache, and its clock, which shows second 1000.
    fn cache() -> (TokenCache<u8>, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::new(1_000_000));
        (TokenCache::new(Arc::<ManualClock>::clone(&clock)), clock)
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// True if `token` is not cached; it is from now on, until its expiry `end`.
    fn is_missed(cache: &TokenCache<u8>, token: &str, audience: &str, end: Option<u64>) -> bool {
        let key = cache.key(token, &[audience.to_owned()]);
        let missed = cache.get(&key).is_none();
        if missed {
            cache.put(key, 1, TTL, end.map(at));
        }
        missed
    }

    #[test]
    fn a_value_is_cached_for_its_time_to_live() {
        let (cache, clock) = cache();
        assert!(is_missed(&cache, "t", "api", None));
        clock.set(1_009_000);
        assert!(!is_missed(&cache, "t", "api", None));
        clock.set(1_010_000);
        assert!(is_missed(&cache, "t", "api", None));
    }

    #[test]
    fn no_value_outlives_the_token() {
        let (cache, clock) = cache();
        assert!(is_missed(&cache, "t", "api", Some(1003)));
        clock.set(1_002_000);
        assert!(!is_missed(&cache, "t", "api", Some(1003)));
        clock.set(1_003_000);
        assert!(is_missed(&cache, "t", "api", Some(1003)));
    }

    #[test]
    fn values_are_for_their_audiences() {
        let (cache, _) = cache();
        assert!(is_missed(&cache, "t", "api", None));
        assert!(is_missed(&cache, "t", "vault", None));
        assert!(is_missed(&cache, "ta", "pi", None));
        assert!(!is_missed(&cache, "t", "vault", None));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nothing_alive() {
        let (cache, clock) = cache();
        assert!(is_missed(&cache, "t", "api", None));
        clock.set(500_000);
        assert!(is_missed(&cache, "t", "api", None));
    }

    #[test]
    fn two_caches_have_different_keys() {
        let key = || cache().0.key("t", &[]);
        assert_ne!(key(), key());
    }

    #[test]
    fn the_capacity_is_bounded() {
        let (cache, _) = cache();
        for token in 0..SHARDS * CAPACITY * 2 {
            is_missed(&cache, &token.to_string(), "api", None);
        }
        let cached: usize = cache.parts.iter().map(|part| part.lock().unwrap().len()).sum();
        assert!(cached <= SHARDS * CAPACITY, "{cached}");
    }
}
