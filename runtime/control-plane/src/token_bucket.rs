//! A limit of a rate.

use std::time::{Duration, Instant};

/// A token bucket: `burst` actions at once, and a number per second in the long run.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_second: f64,
    burst: f64,
    /// Negative for actions that wait for their tokens.
    tokens: f64,
    used_at: Instant,
}

impl TokenBucket {
    /// Returns a full bucket. At least one action is possible at once.
    #[must_use]
    pub fn new(per_second: f64, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst.max(1));
        Self {
            per_second,
            burst,
            tokens: burst,
            used_at: now,
        }
    }

    /// The time of the last attempt to take a token.
    #[must_use]
    pub fn used_at(&self) -> Instant {
        self.used_at
    }

    /// Takes a token. Returns false if there is none.
    pub fn try_take(&mut self, now: Instant) -> bool {
        self.fill(now);
        let has_one = self.tokens >= 1.0;
        if has_one {
            self.tokens -= 1.0;
        }
        has_one
    }

    /// Takes a token in any case, and returns the time until it is there.
    pub fn take(&mut self, now: Instant) -> Duration {
        self.fill(now);
        self.tokens -= 1.0;
        match self.tokens < 0.0 {
            true => Duration::try_from_secs_f64(-self.tokens / self.per_second).unwrap_or(Duration::MAX),
            false => Duration::ZERO,
        }
    }

    fn fill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.used_at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.per_second).min(self.burst);
        self.used_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_the_rate() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(10.0, 2, start);
        assert_eq!(
            (bucket.take(start), bucket.take(start)),
            (Duration::ZERO, Duration::ZERO)
        );
        assert_eq!(bucket.take(start), Duration::from_millis(100));
        let later = start + Duration::from_millis(100);
        assert_eq!(bucket.take(later), Duration::from_millis(100));
        assert_eq!(bucket.take(start + Duration::from_secs(9)), Duration::ZERO);
    }

    #[test]
    fn an_attempt_without_a_token_costs_none() {
        let start = Instant::now();
        let mut bucket = TokenBucket::new(10.0, 1, start);
        assert!(bucket.try_take(start));
        for _ in 0..5 {
            assert!(!bucket.try_take(start));
        }
        assert!(bucket.try_take(start + Duration::from_millis(100)));
        let mut never = TokenBucket::new(0.0, 1, start);
        assert_eq!((never.take(start), never.take(start)), (Duration::ZERO, Duration::MAX));
    }
}
