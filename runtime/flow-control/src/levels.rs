//! All priority levels, and the division of the server's seats among them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::allocation::{Bounds, allocate};
use crate::clock::Clock;
use crate::demand::{DemandSummary, SmoothedDemand};
use crate::discipline::Discipline;
use crate::level::Level;

/// The configuration of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelConfig {
    /// Share of the server's seats, in proportion to those of other levels.
    pub shares: u32,
    /// Percentage of its seats that others may borrow.
    pub lendable_percent: u32,
    /// Percentage of its seats that it may borrow in addition; `None` is no limit.
    pub borrowing_percent: Option<u32>,
    /// The treatment of requests for which no seat is free.
    pub discipline: Discipline,
}

/// The limits of a level, in seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Its share of the server's seats.
    pub nominal: u32,
    /// The share that no other level borrows.
    pub min: u32,
    /// The share with everything that it may borrow.
    pub max: u32,
}

/// A level and its part of the server's seats.
#[derive(Debug)]
pub struct LevelState<D> {
    /// The level.
    pub level: Arc<Level<D>>,
    /// Its limits.
    pub limits: Limits,
    /// Its present limit.
    pub current: u32,
    /// True if the level is configured no more, and ends with its last request.
    pub is_quiescing: bool,
    /// The demand of the last period.
    pub demand: DemandSummary,
    /// The smoothed demand.
    pub smoothed: f64,
    /// The wanted seats, as of the last adjustment.
    pub target: f64,
    config: LevelConfig,
}

/// The levels at one moment.
#[derive(Debug)]
pub struct LevelsSnapshot<D> {
    /// The levels, in order of their names.
    pub levels: Vec<LevelState<D>>,
    /// The fraction of its target that a level gets, as of the last adjustment.
    pub fraction: f64,
}

/// All priority levels of a server.
pub struct Levels<D> {
    clock: Arc<dyn Clock>,
    total: u32,
    state: Mutex<State<D>>,
}

struct State<D> {
    levels: BTreeMap<String, LevelState<D>>,
    /// The fraction of its target that a level gets, as of the last adjustment.
    fraction: f64,
}

impl<D> Levels<D> {
    /// Time between two adjustments to the demand.
    pub const ADJUSTMENT_PERIOD: Duration = Duration::from_secs(10);

    /// Begins without levels, for a server of `total` seats.
    #[must_use]
    pub fn new(total: u32, clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            total,
            state: Mutex::new(State {
                levels: BTreeMap::new(),
                fraction: 0.0,
            }),
        }
    }

    /// Replaces the configuration, and returns the levels in its order. Levels that are configured no more stay until their last
    /// request has ended, and keep their seats.
    #[must_use]
    pub fn configure(&self, configs: &[(&str, LevelConfig)]) -> Vec<Arc<Level<D>>> {
        let mut state = self.state();
        for (name, config) in configs {
            match state.levels.get_mut(*name) {
                Some(level) => {
                    level.config = *config;
                    level.is_quiescing = false;
                }
                None => {
                    let level = Arc::new(Level::new(name, Arc::clone(&self.clock)));
                    state.levels.insert((*name).to_owned(), LevelState::new(level, *config));
                }
            }
        }
        state.levels.retain(|name, level| {
            if configs.iter().any(|(configured, _)| configured == name) {
                return true;
            }
            level.is_quiescing = true;
            !level.level.is_idle()
        });
        state.divide(self.total);
        let level = |(name, _): &(&str, LevelConfig)| state.levels.get(*name).map(|level| Arc::clone(&level.level));
        configs.iter().filter_map(level).collect()
    }

    /// Adjusts the limits to the demand since the last adjustment. To be called every [`ADJUSTMENT_PERIOD`](Self::ADJUSTMENT_PERIOD).
    pub fn adjust(&self) {
        let mut state = self.state();
        let before = state.levels.len();
        state
            .levels
            .retain(|_, level| !(level.is_quiescing && level.level.is_idle()));
        if state.levels.len() < before {
            state.divide(self.total);
        }
        // The sum may exceed the seats of the server, and the largest `u32` too: each part is rounded up.
        let mut remaining: f64 = state.levels.values().map(|level| f64::from(level.limits.nominal)).sum();
        for level in state.levels.values_mut() {
            level.demand = level.level.take_demand();
            let mut smoothed = SmoothedDemand(level.smoothed);
            smoothed.update(&level.demand);
            level.smoothed = smoothed.0;
            if level.config.discipline == Discipline::Exempt {
                level.target = level.demand.high.max(level.limits.min.into());
                level.set_current(level.target);
                remaining -= f64::from(level.current);
            }
        }
        let limited = |level: &&mut LevelState<D>| level.config.discipline != Discipline::Exempt;
        let mut levels: Vec<_> = state.levels.values_mut().filter(limited).collect();
        let bounds: Vec<Bounds> = levels.iter_mut().map(|level| level.bounds()).collect();
        let least: f64 = levels.iter().map(|level| f64::from(level.limits.min)).sum();
        let lowest: f64 = bounds.iter().map(|bounds| bounds.lower).sum();
        let fraction = if remaining <= lowest {
            // Not enough for the demand of all: between the least and that.
            let part = ((remaining - least) / (lowest - least)).clamp(0.0, 1.0);
            let part = if part.is_nan() { 0.0 } else { part };
            for (level, bounds) in levels.iter_mut().zip(&bounds) {
                let min = f64::from(level.limits.min);
                level.set_current(min + part * (bounds.lower - min));
            }
            None
        } else {
            let allocation = allocate(remaining, &bounds);
            for (level, share) in levels.iter_mut().zip(&allocation.shares) {
                level.set_current(*share);
            }
            Some(allocation.fraction)
        };
        drop(levels);
        state.fraction = fraction.unwrap_or(state.fraction);
    }

    /// The present levels, those that are configured no more included.
    #[must_use]
    pub fn snapshot(&self) -> LevelsSnapshot<D> {
        let state = self.state();
        LevelsSnapshot {
            levels: state.levels.values().cloned().collect(),
            fraction: state.fraction,
        }
    }

    fn state(&self) -> MutexGuard<'_, State<D>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D> State<D> {
    /// Divides `total` seats by the shares of the levels.
    fn divide(&mut self, total: u32) {
        let shares: u64 = self.levels.values().map(|level| u64::from(level.config.shares)).sum();
        for level in self.levels.values_mut() {
            level.divide(total, shares);
        }
    }
}

impl Limits {
    /// The limits of a level with `config` in a server of `total` seats, when all levels together have `shares`.
    fn of(config: &LevelConfig, total: u32, shares: u64) -> Self {
        let part = f64::from(total) * f64::from(config.shares) / shares_as_f64(shares);
        let nominal = whole(part.ceil());
        let percentage = |percent: u32| whole((f64::from(nominal) * f64::from(percent) / 100.0).round());
        let borrowed = config.borrowing_percent.map_or(total, percentage);
        Self {
            nominal,
            min: nominal.saturating_sub(percentage(config.lendable_percent)),
            max: nominal.saturating_add(borrowed),
        }
    }
}

impl LevelConfig {
    /// Most seats of one request in a level with `nominal` seats: so few that others of the level run beside it.
    fn widest_request(&self, nominal: u32) -> u32 {
        let part = whole((0.15 * f64::from(nominal)).ceil());
        let widest = match self.discipline.bounded() {
            Discipline::Queue { hand_size, .. } => part.min(nominal / hand_size),
            Discipline::Reject => part,
            Discipline::Exempt => u32::MAX,
        };
        widest.max(1)
    }
}

impl<D> LevelState<D> {
    fn new(level: Arc<Level<D>>, config: LevelConfig) -> Self {
        Self {
            level,
            limits: Limits::default(),
            current: 0,
            is_quiescing: false,
            demand: DemandSummary::default(),
            smoothed: 0.0,
            target: 0.0,
            config,
        }
    }

    /// Computes the limits. A new level lends half of what it can.
    fn divide(&mut self, total: u32, shares: u64) {
        let limits = Limits::of(&self.config, total, shares);
        let is_new = self.limits == Limits::default();
        self.current = match is_new {
            true => limits.nominal - (limits.nominal - limits.min) / 2,
            false => self.current.clamp(limits.min, limits.max),
        };
        self.limits = limits;
        let widest = self.config.widest_request(limits.nominal);
        self.level
            .configure(self.config.discipline, self.current, limits.nominal, widest);
    }

    /// The bounds of the next limit.
    fn bounds(&mut self) -> Bounds {
        let Limits { nominal, min, max } = self.limits;
        let lower = self.demand.high.min(nominal.into()).max(min.into());
        self.target = self.smoothed.max(lower);
        Bounds {
            target: self.target,
            lower,
            upper: f64::from(max).max(lower),
        }
    }

    fn set_current(&mut self, seats: f64) {
        self.current = whole(seats.round());
        self.level.set_limit(self.current);
    }
}

#[expect(clippy::cast_precision_loss, reason = "sums of shares are far below 2^52")]
fn shares_as_f64(shares: u64) -> f64 {
    shares.max(1) as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped before"
)]
fn whole(seats: f64) -> u32 {
    seats.clamp(0.0, f64::from(u32::MAX)) as u32
}

impl<D> Clone for LevelState<D> {
    fn clone(&self) -> Self {
        Self {
            level: Arc::clone(&self.level),
            ..*self
        }
    }
}

impl<D> fmt::Debug for Levels<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Levels")
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
