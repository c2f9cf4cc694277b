//! A cache of recently verified tokens.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use ring::digest::{Context, SHA256};

use crate::user::UserInfo;

/// The time to live of a cached token; kube-apiserver's value. Failures are not cached, so that a token is accepted as soon as
/// it becomes valid.
const HOLDS: Duration = Duration::from_secs(10);

/// The number of shards, each with its own lock; a power of two.
const PARTS: usize = 32;
/// The capacity of a shard. If it is full of unexpired tokens, the shard is cleared.
const ROOM: usize = 1024;

/// Observes lookups and verifications of tokens.
pub trait TokenCacheObserver: Send + Sync + fmt::Debug {
    /// Reports a lookup; `hit` if it was served from the cache.
    fn requested(&self, hit: bool, took: Duration);

    /// Reports a verification and its result.
    fn verified(&self, valid: bool);
}

/// The user of a token, and the audiences for which it is valid.
pub(super) type Found = (Arc<UserInfo>, Vec<String>);

/// Valid tokens by their digests: the tokens themselves are not stored.
pub(super) struct TokenCache {
    parts: [Mutex<HashMap<Key, Entry>>; PARTS],
    observer: Option<Arc<dyn TokenCacheObserver>>,
    now: fn() -> SystemTime,
}

type Key = [u8; 32];

struct Entry {
    found: Found,
    since: SystemTime,
    until: SystemTime,
}

impl Entry {
    /// An entry from the future, after the clock was set back, is invalid.
    fn holds(&self, now: SystemTime) -> bool {
        self.since <= now && now < self.until
    }
}

impl TokenCache {
    pub(super) fn new(now: fn() -> SystemTime, observer: Option<Arc<dyn TokenCacheObserver>>) -> Self {
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
            observer,
            now,
        }
    }

    /// Returns the cached result for a token and `audiences`, or else that of `verify`, which also returns the time until which
    /// the result can be cached.
    pub(super) fn get_or<E>(
        &self,
        token: &str,
        audiences: &[String],
        verify: impl FnOnce() -> Result<(Found, Option<SystemTime>), E>,
    ) -> Result<Found, E> {
        let begin = Instant::now();
        let key = key(token, audiences);
        let part = &self.parts[usize::from(key[0]) % PARTS];
        let now = (self.now)();
        let known = part
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .and_then(|entry| {
                let found = &entry.found;
                entry.holds(now).then(|| found.clone())
            });
        let is_hit = known.is_some();
        let found = match known {
            Some(found) => Ok(found),
            // The lock is not held during verification, which may call another server.
            None => verify().map(|(found, until)| {
                let until = until.map_or(now + HOLDS, |until| until.min(now + HOLDS));
                let entry = Entry {
                    found: found.clone(),
                    since: now,
                    until,
                };
                keep(&mut part.lock().unwrap_or_else(PoisonError::into_inner), key, entry);
                found
            }),
        };
        if let Some(observer) = &self.observer {
            observer.requested(is_hit, begin.elapsed());
            if !is_hit {
                observer.verified(found.is_ok());
            }
        }
        found
    }
}

fn keep(part: &mut HashMap<Key, Entry>, key: Key, entry: Entry) {
    if part.len() >= ROOM {
        part.retain(|_, old| old.holds(entry.since));
    }
    if part.len() >= ROOM {
        part.clear();
    }
    part.insert(key, entry);
}

/// Each text is preceded by its length, so that different inputs have different keys.
fn key(token: &str, audiences: &[String]) -> Key {
    let mut context = Context::new(&SHA256);
    for text in std::iter::once(token).chain(audiences.iter().map(String::as_str)) {
        context.update(&text.len().to_le_bytes());
        context.update(text.as_bytes());
    }
    let mut key = Key::default();
    key.copy_from_slice(context.finish().as_ref());
    key
}

impl fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::UNIX_EPOCH;

    use super::*;

    /// The fake clock, in seconds; each test runs in a thread with its own clock.
    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(CLOCK.get())
    }

    thread_local! {
        static CLOCK: Cell<u64> = const { Cell::new(1000) };
    }

    fn found() -> Found {
        (Arc::new(UserInfo::default()), vec!["api".to_owned()])
    }

    /// True if `token` had to be verified; it expires at `until`, in seconds.
    fn is_verified(cache: &TokenCache, token: &str, audience: &str, until: Option<u64>) -> bool {
        let mut verified = false;
        let until = until.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let answer = cache.get_or(token, &[audience.to_owned()], || {
            verified = true;
            Ok::<_, ()>((found(), until))
        });
        assert_eq!(answer, Ok(found()));
        verified
    }

    #[test]
    fn a_valid_token_is_verified_every_ten_seconds() {
        let cache = TokenCache::new(now, None);
        assert!(is_verified(&cache, "t", "api", None));
        CLOCK.set(1009);
        assert!(!is_verified(&cache, "t", "api", None));
        CLOCK.set(1010);
        assert!(is_verified(&cache, "t", "api", None));
    }

    #[test]
    fn no_answer_outlives_the_token() {
        let cache = TokenCache::new(now, None);
        assert!(is_verified(&cache, "t", "api", Some(1003)));
        CLOCK.set(1002);
        assert!(!is_verified(&cache, "t", "api", Some(1003)));
        CLOCK.set(1003);
        assert!(is_verified(&cache, "t", "api", Some(1003)));
    }

    #[test]
    fn answers_are_for_the_audiences_that_were_asked_about() {
        let cache = TokenCache::new(now, None);
        assert!(is_verified(&cache, "t", "api", None));
        assert!(is_verified(&cache, "t", "vault", None));
        assert!(is_verified(&cache, "ta", "pi", None));
        assert!(!is_verified(&cache, "t", "vault", None));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_nothing_alive() {
        let cache = TokenCache::new(now, None);
        assert!(is_verified(&cache, "t", "api", None));
        CLOCK.set(500);
        assert!(is_verified(&cache, "t", "api", None));
    }

    #[test]
    fn an_invalid_token_is_verified_each_time() {
        #[derive(Debug, Default)]
        struct Seen([AtomicU64; 3]);
        impl TokenCacheObserver for Seen {
            fn requested(&self, hit: bool, _: Duration) {
                self.0[usize::from(hit)].fetch_add(1, Ordering::Relaxed);
            }
            fn verified(&self, _: bool) {
                self.0[2].fetch_add(1, Ordering::Relaxed);
            }
        }
        let seen = Arc::new(Seen::default());
        let cache = TokenCache::new(now, Some(Arc::clone(&seen) as Arc<dyn TokenCacheObserver>));
        for _ in 0..3 {
            assert_eq!(cache.get_or("t", &[], || Err("no")), Err("no"));
        }
        assert!(is_verified(&cache, "u", "api", None));
        assert!(!is_verified(&cache, "u", "api", None));
        let counts = [0, 1, 2].map(|index| seen.0[index].load(Ordering::Relaxed));
        assert_eq!(counts, [4, 1, 4]);
    }

    #[test]
    fn the_room_is_bounded() {
        let cache = TokenCache::new(now, None);
        for token in 0..PARTS * ROOM * 2 {
            is_verified(&cache, &token.to_string(), "api", None);
        }
        let kept: usize = cache.parts.iter().map(|part| part.lock().unwrap().len()).sum();
        assert!(kept <= PARTS * ROOM, "{kept}");
    }
}
