//! The state of the levels, for metrics.

use planesmith_flow_control::{LevelState, Levels, LevelsSnapshot, Progress, SeatSeconds, TimedHistogram};
use planesmith_server::metrics::{
    DemandReading, Distribution, FlowReadings, LevelReading, ProgressReading, SeatReading,
};

use super::kind_gauges::KindGauges;
use super::request_seats::Described;

/// Reads all levels.
pub(super) fn of(levels: &Levels<Described>, kinds: &KindGauges) -> FlowReadings {
    let LevelsSnapshot { levels, fraction } = levels.snapshot();
    FlowReadings {
        fair_fraction: fraction,
        levels: levels.iter().map(level).collect(),
        kinds: kinds.readings(),
    }
}

fn level(state: &LevelState<Described>) -> LevelReading {
    let digest = state.level.digest(false);
    LevelReading {
        name: state.level.name().to_owned(),
        seats: SeatReading {
            nominal: state.limits.nominal,
            lower: state.limits.min,
            upper: state.limits.max,
            current: state.current,
            target: state.target,
        },
        demand: DemandReading {
            average: state.demand.average,
            deviation: state.demand.deviation,
            high: state.demand.high,
            smoothed: state.smoothed,
        },
        progress: progress(&digest.progress),
        seat_utilization: distribution(&digest.seat_utilization),
        waiting: distribution(&digest.waiting_utilization),
        executing: distribution(&digest.executing_utilization),
        demand_over_time: distribution(&digest.demand),
    }
}

fn progress(progress: &Progress) -> ProgressReading {
    let both = |(least, most): (SeatSeconds, SeatSeconds)| (least.as_f64(), most.as_f64());
    ProgressReading {
        current: progress.current.as_f64(),
        dispatched: progress.dispatched.as_f64(),
        latest_start: progress.latest_start.as_f64(),
        next_starts: both(progress.next_starts),
        discounted_starts: both(progress.discounted_starts),
    }
}

/// Reads a histogram.
pub(super) fn distribution(histogram: &TimedHistogram) -> Distribution {
    let (counts, count) = histogram.cumulative();
    Distribution {
        buckets: histogram.bounds().iter().copied().zip(counts).collect(),
        count,
        sum: histogram.sum(),
    }
}
