//! Reading and writing requests over time.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use planesmith_flow_control::TimedHistogram;
use planesmith_server::metrics::KindReading;

use super::readings::distribution;

/// kube-apiserver's buckets.
const BUCKETS: &[f64] = &[
    0.0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0,
];

/// The phase of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Executing,
}

/// The numbers of reading and writing requests by phase, as fractions of the limits of the simple mode, over time.
#[derive(Debug)]
pub(super) struct KindGauges([Mutex<Gauge>; 4]);

#[derive(Debug)]
struct Gauge {
    requests: u32,
    histogram: TimedHistogram,
}

impl KindGauges {
    /// Begins without requests. The limits are those of reading and of writing requests.
    pub(super) fn new(limits: [u32; 2]) -> Self {
        let now = Instant::now();
        let gauge = |limit: u32| {
            let mut histogram = TimedHistogram::new(BUCKETS, now);
            histogram.set_denominator(now, limit.into());
            Mutex::new(Gauge { requests: 0, histogram })
        };
        let [reading, writing] = limits;
        Self([gauge(reading), gauge(writing), gauge(reading), gauge(writing)])
    }

    /// Counts a request that begins a phase.
    pub(super) fn begin(&self, phase: Phase, is_mutating: bool, now: Instant) {
        self.change(phase, is_mutating, now, |requests| requests.saturating_add(1));
    }

    /// Counts a request that ends a phase.
    pub(super) fn end(&self, phase: Phase, is_mutating: bool, now: Instant) {
        self.change(phase, is_mutating, now, |requests| requests.saturating_sub(1));
    }

    fn change(&self, phase: Phase, is_mutating: bool, now: Instant, change: impl FnOnce(u32) -> u32) {
        let index = 2 * usize::from(phase == Phase::Executing) + usize::from(is_mutating);
        let mut gauge = self.0[index].lock().unwrap_or_else(PoisonError::into_inner);
        gauge.requests = change(gauge.requests);
        let requests = gauge.requests.into();
        gauge.histogram.set(now, requests);
    }

    /// The distributions so far.
    pub(super) fn readings(&self) -> Vec<KindReading> {
        let labels = [
            ("waiting", "readOnly"),
            ("waiting", "mutating"),
            ("executing", "readOnly"),
            ("executing", "mutating"),
        ];
        let reading = |(gauge, (phase, kind)): (&Mutex<Gauge>, (&'static str, &'static str))| {
            let mut gauge = gauge.lock().unwrap_or_else(PoisonError::into_inner);
            gauge.histogram.advance(Instant::now());
            KindReading {
                phase,
                kind,
                present: gauge.requests,
                requests: distribution(&gauge.histogram),
            }
        };
        self.0.iter().zip(labels).map(reading).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_count_while_they_wait_and_execute() {
        let gauges = KindGauges::new([4, 2]);
        let begin = Instant::now();
        gauges.begin(Phase::Executing, true, begin);
        assert_eq!(gauges.readings()[3].present, 1);
        gauges.end(Phase::Executing, true, begin + Duration::from_secs(3));
        let readings = gauges.readings();
        let executing = &readings[3];
        assert_eq!((executing.phase, executing.kind), ("executing", "mutating"));
        // Half of the limit for three seconds.
        assert!((executing.requests.sum - 1.5e9).abs() < 1.0, "{executing:?}");
        assert!(readings[..3].iter().all(|reading| reading.requests.sum == 0.0));
    }
}
