//! The lives of a store between restarts, crashes, losses of power and faults.

pub mod child;
mod etcd;
mod faults;
mod kill;
mod loss_of_power;
mod restarts;
mod shared;

use std::fmt;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fastrand::Rng;

use crate::check::{Finding, check};
use crate::cluster::Cluster;
use crate::history::{History, Promises};
use crate::record::Record;

/// The events in the lives of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// The embedded engine without a disk, with restarts.
    Memory,
    /// Two servers on a backend in memory, in which others write, too, and that loses feeds and answers.
    Shared,
    /// Two servers on three members of etcd, which are killed, stopped and cut off.
    Etcd,
    /// The embedded store, with restarts, and a disk that is slow, full or failing.
    Faults,
    /// The embedded store in a process that is killed again and again.
    Kill,
    /// The embedded store on a disk that loses its power again and again, and fails at calls of any kind.
    Power,
}

/// One run of a scenario.
#[derive(Clone, Copy, Debug)]
pub struct Round<'a> {
    /// The scenario.
    pub scenario: Scenario,
    /// The seed of all chance.
    pub seed: u64,
    /// Approximate number of calls in each life of the store.
    pub calls: usize,
    /// The program that runs [`child::Child`].
    pub program: &'a Path,
    /// The injection of `strace` in each life of [`Scenario::Power`]. Default: random ones, in some lives.
    pub fault: Option<&'a str>,
    /// The members of [`Scenario::Etcd`].
    pub cluster: Option<&'a Cluster>,
}

/// Counts of events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Rounds.
    pub rounds: usize,
    /// Calls of clients.
    pub calls: usize,
    /// Changes that watches delivered.
    pub events: usize,
    /// Times that a store was opened.
    pub opened: usize,
    /// Losses of power.
    pub cuts: usize,
    /// Of these, those in the middle of settling.
    pub settling_cuts: usize,
    /// Processes that were killed.
    pub kills: usize,
    /// Calls of the operating system or of a backend that were made to fail.
    pub faults: usize,
    /// The longest time that a write took to succeed while a member was missing.
    pub slowest: Duration,
}

/// A round with findings.
#[derive(Debug)]
pub struct Failure {
    /// The findings.
    pub findings: Vec<Finding>,
    /// The observations.
    pub history: History,
    /// The moment, for scenarios with several.
    pub moment: String,
}

impl Round<'_> {
    /// Runs the scenario and checks what the clients observed; `Some` if a promise was broken.
    ///
    /// # Errors
    ///
    /// The scenario lacks what it needs.
    pub fn run(&self, tally: &mut Tally) -> Result<Option<Failure>> {
        let mut random = Rng::with_seed(self.seed);
        tally.rounds += 1;
        let failure = match self.scenario {
            Scenario::Memory | Scenario::Faults => {
                let history = restarts::run(self, &mut random, tally)?;
                tally.note(&history.records);
                verdict(history, String::new())
            }
            Scenario::Shared | Scenario::Etcd => {
                let history = match self.scenario {
                    Scenario::Etcd => etcd::run(self, &mut random, tally)?,
                    _ => shared::run(self, &mut random, tally)?,
                };
                tally.note(&history.records);
                verdict(history, String::new())
            }
            Scenario::Kill => kill::run(self, &mut random, tally)?,
            Scenario::Power => loss_of_power::run(self, &mut random, tally)?,
        };
        Ok(failure)
    }

    /// A round with fewer calls that fails, too, found by trying.
    ///
    /// # Errors
    ///
    /// The scenario lacks what it needs.
    pub fn shrunk(&self, failure: Failure) -> Result<(Self, Failure)> {
        let mut smallest = (*self, failure);
        for attempt in 0..12 {
            let fewer = Round {
                calls: smallest.0.calls / 2,
                ..smallest.0
            };
            if fewer.calls < 4 {
                break;
            }
            // The same seed overlaps differently each time.
            if let Some(failure) = fewer.run(&mut Tally::default())? {
                smallest = (fewer, failure);
            } else if attempt > 8 {
                break;
            }
        }
        Ok(smallest)
    }
}

impl Tally {
    /// Counts observations.
    fn note(&mut self, records: &[Record]) {
        for record in records {
            match record {
                Record::Call { .. } => self.calls += 1,
                Record::Batch { events, .. } => self.events += events.len(),
                Record::Opened { .. } => self.opened += 1,
                _ => {}
            }
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.calls += other.calls;
        self.events += other.events;
        self.opened += other.opened;
        self.cuts += other.cuts;
        self.settling_cuts += other.settling_cuts;
        self.kills += other.kills;
        self.faults += other.faults;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rounds,
            calls,
            events,
            opened,
            cuts,
            settling_cuts,
            kills,
            faults,
            slowest,
        } = self;
        write!(
            formatter,
            "{rounds} rounds, {calls} calls, {events} events, {opened} starts, {faults} faults, {kills} kills, \
             {cuts} losses of power ({settling_cuts} while settling)"
        )?;
        match slowest.is_zero() {
            true => Ok(()),
            false => write!(
                formatter,
                ", {:.1} s until writes succeeded again",
                slowest.as_secs_f64()
            ),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in self.findings.iter().take(5) {
            writeln!(formatter, "{finding}")?;
            for position in &finding.positions {
                if let Some(record) = self.history.records.get(*position) {
                    writeln!(formatter, "  {position:>6}  {record}")?;
                }
            }
        }
        let more = self.findings.len().saturating_sub(5);
        if more > 0 {
            writeln!(formatter, "and {more} more findings")?;
        }
        formatter.write_str(&self.moment)
    }
}

/// Checks `history`, which led to `moment`.
fn verdict(history: History, moment: String) -> Option<Failure> {
    let findings = check(&history);
    (!findings.is_empty()).then_some(Failure {
        findings,
        history,
        moment,
    })
}

/// A failure that is no observation of a client.
fn stuck(mut records: Vec<Record>, reason: String, moment: String) -> Option<Failure> {
    records.push(Record::Stuck { reason });
    let history = History {
        promises: Promises::EMBEDDED,
        records,
    };
    verdict(history, moment)
}

/// The folder of the store in `folder`, which the store creates.
fn store_in(folder: &Path) -> PathBuf {
    folder.join("store")
}

/// A runtime without connections, whose threads make no calls of the operating system that could be made to fail.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_time().build();
    runtime.context("a runtime is needed")
}

/// The number after that of every call in `records`.
fn next_id(records: &[Record]) -> u64 {
    let ids = records.iter().filter_map(|record| match record {
        Record::Call { id, .. } => Some(*id),
        _ => None,
    });
    ids.max().map_or(1, |last| last + 1)
}

/// The time that the clock was set to last.
fn last_time(records: &[Record]) -> u64 {
    let times = records.iter().rev().find_map(|record| match record {
        Record::Clock { now } => Some(*now),
        _ => None,
    });
    times.unwrap_or(FIRST_TIME)
}

/// The time at which every history begins.
const FIRST_TIME: u64 = 1_000_000_000_000;
