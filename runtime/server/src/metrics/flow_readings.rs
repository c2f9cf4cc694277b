//! The state of priority levels, as metrics need it.

/// The state of all levels.
#[derive(Clone, Debug, Default)]
pub struct FlowReadings {
    /// The fraction of its target that a level gets.
    pub fair_fraction: f64,
    /// The levels.
    pub levels: Vec<LevelReading>,
    /// Reading and writing requests, by phase.
    pub kinds: Vec<KindReading>,
}

/// The requests of one kind in one phase.
#[derive(Clone, Debug)]
pub struct KindReading {
    /// `waiting` or `executing`.
    pub phase: &'static str,
    /// `readOnly` or `mutating`.
    pub kind: &'static str,
    /// Their present number.
    pub present: u32,
    /// Their number as a fraction of the limit, over time.
    pub requests: Distribution,
}

impl FlowReadings {
    /// The number of waiting requests of `kind`.
    pub(super) fn waiting(&self, kind: &str) -> u32 {
        let mut kinds = self.kinds.iter();
        kinds
            .find(|reading| reading.phase == "waiting" && reading.kind == kind)
            .map_or(0, |reading| reading.present)
    }
}

/// The state of one level.
#[derive(Clone, Debug)]
pub struct LevelReading {
    /// The name.
    pub name: String,
    /// The seats of the level: nominal, lower, upper and current limit, and the target.
    pub seats: SeatReading,
    /// The demand in the last period.
    pub demand: DemandReading,
    /// Virtual times, in seat-seconds.
    pub progress: ProgressReading,
    /// Seats in use as a fraction of the limit.
    pub seat_utilization: Distribution,
    /// Waiting requests as a fraction of the capacity.
    pub waiting: Distribution,
    /// Executing requests as a fraction of the limit.
    pub executing: Distribution,
    /// Wanted seats as a fraction of the nominal limit.
    pub demand_over_time: Distribution,
}

/// Limits of a level, in seats.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeatReading {
    /// Its share of the server's seats.
    pub nominal: u32,
    /// The smallest limit.
    pub lower: u32,
    /// The largest limit.
    pub upper: u32,
    /// The present limit.
    pub current: u32,
    /// The limit that it should have.
    pub target: f64,
}

/// The demand of a level, in seats.
#[derive(Clone, Copy, Debug, Default)]
pub struct DemandReading {
    /// The average.
    pub average: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// The maximum.
    pub high: f64,
    /// The smoothed demand.
    pub smoothed: f64,
}

/// Virtual times of a level, in seat-seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProgressReading {
    /// Work of each active queue so far.
    pub current: f64,
    /// The same at the last dispatch.
    pub dispatched: f64,
    /// Virtual start of the request that was dispatched last.
    pub latest_start: f64,
    /// Smallest and largest virtual start of the next requests.
    pub next_starts: (f64, f64),
    /// The same without the estimated work in progress.
    pub discounted_starts: (f64, f64),
}

/// A distribution over time, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// Upper bounds and the nanoseconds with at most these values.
    pub buckets: Vec<(f64, u64)>,
    /// All nanoseconds.
    pub count: u64,
    /// The sum of the values of all nanoseconds.
    pub sum: f64,
}

impl LevelReading {
    /// The state of an idle level.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            seats: SeatReading::default(),
            demand: DemandReading::default(),
            progress: ProgressReading::default(),
            seat_utilization: Distribution::default(),
            waiting: Distribution::default(),
            executing: Distribution::default(),
            demand_over_time: Distribution::default(),
        }
    }
}
