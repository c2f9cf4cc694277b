//! The demand for seats over time.

use std::time::{Duration, Instant};

/// Statistics of the demand during a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DemandSummary {
    /// The average, weighted by time.
    pub average: f64,
    /// The standard deviation, weighted by time.
    pub deviation: f64,
    /// The highest demand.
    pub high: f64,
}

/// Integrates a demand over time.
#[derive(Debug)]
pub(crate) struct Integrator {
    at: Instant,
    value: u64,
    high: u64,
    seconds: f64,
    sum: f64,
    squares: f64,
}

impl Integrator {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            at: now,
            value: 0,
            high: 0,
            seconds: 0.0,
            sum: 0.0,
            squares: 0.0,
        }
    }

    /// Sets the demand from `now` on. An unchanged one costs nothing.
    pub(crate) fn set(&mut self, now: Instant, value: u64) {
        if value != self.value {
            self.advance(now);
            self.value = value;
            self.high = self.high.max(value);
        }
    }

    fn advance(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        let value = seats(self.value);
        self.seconds += passed;
        self.sum += passed * value;
        self.squares += passed * value * value;
    }

    /// Returns the statistics since the last call, and begins a new period.
    pub(crate) fn take(&mut self, now: Instant) -> DemandSummary {
        self.advance(now);
        let summary = if self.seconds > 0.0 {
            let average = self.sum / self.seconds;
            let variance = self.squares / self.seconds - average * average;
            DemandSummary {
                average,
                // Rounding may make it slightly negative.
                deviation: variance.max(0.0).sqrt(),
                high: seats(self.high),
            }
        } else {
            DemandSummary {
                average: seats(self.value),
                deviation: 0.0,
                high: seats(self.high),
            }
        };
        (self.seconds, self.sum, self.squares, self.high) = (0.0, 0.0, 0.0, self.value);
        summary
    }
}

/// The smoothed demand of a level: it follows a rise at once, and a fall slowly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SmoothedDemand(pub(crate) f64);

impl SmoothedDemand {
    /// Weight of the former value in each period.
    const MEMORY: f64 = 0.977;

    pub(crate) fn update(&mut self, period: &DemandSummary) {
        let envelope = period.average + period.deviation;
        let fading = Self::MEMORY * self.0 + (1.0 - Self::MEMORY) * envelope;
        self.0 = envelope.max(fading);
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of seats are far below 2^52")]
fn seats(number: u64) -> f64 {
    number as f64
}

/// The nanoseconds between two times, for integrals.
pub(crate) fn nanos_between(earlier: Instant, later: Instant) -> u64 {
    let passed: Duration = later.saturating_duration_since(earlier);
    u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_is_weighted_by_time() {
        let begin = Instant::now();
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut demand = Integrator::new(begin);
        demand.set(after(5), 4);
        let period = demand.take(after(10));
        assert_eq!((period.average, period.deviation, period.high), (2.0, 2.0, 4.0));
        demand.set(after(10), 0);
        let period = demand.take(after(20));
        assert_eq!(
            (period.average, period.high),
            (0.0, 4.0),
            "the new period began with four"
        );
        assert_eq!(demand.take(after(20)), DemandSummary::default(), "no time has passed");
    }

    #[test]
    fn smoothed_demand_falls_slowly() {
        let mut smoothed = SmoothedDemand::default();
        let period = |average, deviation| DemandSummary {
            average,
            deviation,
            high: 0.0,
        };
        smoothed.update(&period(90.0, 10.0));
        assert_eq!(smoothed.0, 100.0);
        smoothed.update(&period(0.0, 0.0));
        assert!((smoothed.0 - 97.7).abs() < 1e-9);
    }
}
