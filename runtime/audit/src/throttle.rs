//! A limit of rates.

use std::time::{Duration, Instant};

/// A token bucket: `burst` actions at once, and `qps` a second in the long run.
#[derive(Debug)]
pub(crate) struct Throttle {
    qps: f64,
    burst: f64,
    tokens: f64,
    at: Instant,
}

impl Throttle {
    pub(crate) fn new(qps: f64, burst: u32, now: Instant) -> Self {
        let burst = f64::from(burst.max(1));
        Self {
            qps,
            burst,
            tokens: burst,
            at: now,
        }
    }

    /// Takes a token, and returns the time until it is there.
    pub(crate) fn take(&mut self, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.tokens = (self.tokens + passed * self.qps).min(self.burst) - 1.0;
        self.at = now;
        match self.tokens < 0.0 {
            true => Duration::from_secs_f64(-self.tokens / self.qps),
            false => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_followed_by_the_rate() {
        let start = Instant::now();
        let mut throttle = Throttle::new(10.0, 2, start);
        assert_eq!(
            (throttle.take(start), throttle.take(start)),
            (Duration::ZERO, Duration::ZERO)
        );
        assert_eq!(throttle.take(start), Duration::from_millis(100));
        assert_eq!(
            throttle.take(start + Duration::from_millis(100)),
            Duration::from_millis(100)
        );
        assert_eq!(throttle.take(start + Duration::from_secs(9)), Duration::ZERO);
    }
}
