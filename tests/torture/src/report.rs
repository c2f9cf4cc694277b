//! The run of many rounds: progress, findings, and the result.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fastrand::Rng;

use crate::cluster::Cluster;
use crate::scenario::{Round, Scenario, Tally};

/// The interval of lines of progress.
const INTERVAL: Duration = Duration::from_secs(5);

/// Rounds of scenarios for some time.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The name of the store.
    pub store: &'a str,
    /// The scenarios, in turns.
    pub scenarios: &'a [Scenario],
    /// The time after which no round begins.
    pub duration: Duration,
    /// The seed of all rounds.
    pub seed: u64,
    /// Approximate number of calls in each life of a store.
    pub calls: usize,
    /// The program that runs child processes.
    pub program: &'a Path,
}

impl Run<'_> {
    /// Runs until the time is over or a promise was broken. `report` gets lines of progress, and the findings.
    ///
    /// # Errors
    ///
    /// A promise was broken, or a scenario lacks what it needs.
    pub fn run(&self, report: &mut dyn FnMut(&str)) -> Result<Tally> {
        let needs_cluster = self.scenarios.contains(&Scenario::Etcd);
        let cluster = needs_cluster.then(Cluster::start).transpose()?;
        let begin = Instant::now();
        let mut next = INTERVAL;
        let mut tally = Tally::default();
        let mut random = Rng::with_seed(self.seed);
        for scenario in self.scenarios.iter().cycle() {
            if begin.elapsed() >= self.duration && tally.rounds >= self.scenarios.len() {
                break;
            }
            let round = Round {
                scenario: *scenario,
                seed: random.u64(..),
                calls: self.calls,
                program: self.program,
                fault: None,
                cluster: cluster.as_ref(),
            };
            if let Some(failure) = round.run(&mut tally)? {
                report(&format!(
                    "{}: {:?} with seed {} and {} calls:\n{failure}",
                    self.store, round.scenario, round.seed, round.calls
                ));
                let (smallest, failure) = round.shrunk(failure)?;
                if smallest.calls < round.calls {
                    report(&format!("the same with {} calls:\n{failure}", smallest.calls));
                }
                bail!(
                    "{} broke a promise; again with --store {} --scenario {:?} --round {} --calls {}",
                    self.store,
                    self.store,
                    smallest.scenario,
                    smallest.seed,
                    smallest.calls
                );
            }
            if begin.elapsed() >= next {
                report(&format!("{}: {} s, {tally}", self.store, begin.elapsed().as_secs()));
                next = begin.elapsed() + INTERVAL;
            }
        }
        report(&format!(
            "{}: {} s, seed {}, no finding: {tally}",
            self.store,
            begin.elapsed().as_secs(),
            self.seed
        ));
        Ok(tally)
    }
}
