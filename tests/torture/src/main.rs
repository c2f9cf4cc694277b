//! `planesmith-torture`: see `cargo xtask torture --help`.
#![allow(clippy::print_stdout, reason = "progress and findings go to the standard output")]

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand, ValueEnum};
use planesmith_torture::cluster::Cluster;
use planesmith_torture::endurance::Endurance;
use planesmith_torture::report::Run;
use planesmith_torture::scenario::child::Child;
use planesmith_torture::scenario::{Round, Scenario, Tally};

/// Tortures stores, and checks what their clients observe.
///
/// Random clients and watches work at the same time while the store is restarted, killed, cut off from power, and while its
/// disk fails. The run ends with the first broken promise, with its seed and the observations that show it.
#[derive(Debug, Parser)]
#[command(name = "planesmith-torture", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The duration, of all stores together.
    #[arg(long, default_value_t = 1.0, value_name = "MINUTES")]
    minutes: f64,
    /// The seed of all that follows from chance. Default: random.
    #[arg(long)]
    seed: Option<u64>,
    /// The store; repeatable. Default: all.
    #[arg(long, value_enum)]
    store: Vec<Store>,
    /// Runs for 20 seconds.
    #[arg(long)]
    short: bool,
    /// Runs this scenario only.
    #[arg(long, value_enum, ignore_case = true)]
    scenario: Option<Name>,
    /// Repeats the round with this seed.
    #[arg(long, requires = "scenario", value_name = "SEED")]
    round: Option<u64>,
    /// Approximate number of calls in each life of a store.
    #[arg(long, default_value_t = 150)]
    calls: usize,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(hide = true)]
    Child(Child),
    Endurance(Endurance),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Store {
    Memory,
    Sled,
    Etcd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    Memory,
    Shared,
    Etcd,
    Faults,
    Kill,
    Power,
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Sled => "sled",
            Self::Etcd => "etcd",
        }
    }

    /// The duration of the short form.
    fn short(self) -> Duration {
        Duration::from_secs(match self {
            Self::Memory => 4,
            Self::Sled => 10,
            Self::Etcd => 6,
        })
    }

    fn scenarios(self) -> &'static [Scenario] {
        match self {
            Self::Memory => &[Scenario::Memory, Scenario::Shared],
            Self::Etcd => &[Scenario::Etcd],
            Self::Sled => &[
                Scenario::Faults,
                Scenario::Power,
                Scenario::Faults,
                Scenario::Kill,
                Scenario::Power,
            ],
        }
    }
}

impl From<Name> for Scenario {
    fn from(name: Name) -> Self {
        match name {
            Name::Memory => Self::Memory,
            Name::Shared => Self::Shared,
            Name::Etcd => Self::Etcd,
            Name::Faults => Self::Faults,
            Name::Kill => Self::Kill,
            Name::Power => Self::Power,
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.command {
        Some(Command::Child(child)) => child.run(),
        Some(Command::Endurance(endurance)) => endurance.run(&mut |line| println!("{line}")),
        None => arguments.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

impl Arguments {
    fn run(&self) -> Result<()> {
        let program = std::env::current_exe().context("the path of this program is needed")?;
        if let (Some(scenario), Some(seed)) = (self.scenario, self.round) {
            return self.repeat(scenario.into(), seed, &program);
        }
        let stores = match &self.store[..] {
            [] => Store::value_variants(),
            stores => stores,
        };
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..));
        println!("seed {seed}");
        for store in stores {
            let chosen = self.scenario.map(Scenario::from);
            let scenarios: Vec<_> = store
                .scenarios()
                .iter()
                .copied()
                .filter(|scenario| chosen.is_none_or(|chosen| chosen == *scenario))
                .collect();
            if scenarios.is_empty() {
                continue;
            }
            let run = Run {
                store: store.name(),
                scenarios: &scenarios,
                duration: match self.short {
                    true => store.short(),
                    false => Duration::from_secs_f64(self.minutes * 60.0 / stores.len() as f64),
                },
                seed,
                calls: self.calls,
                program: &program,
            };
            run.run(&mut |line| println!("{line}"))?;
        }
        Ok(())
    }

    fn repeat(&self, scenario: Scenario, seed: u64, program: &Path) -> Result<()> {
        let cluster = (scenario == Scenario::Etcd).then(Cluster::start).transpose()?;
        let round = Round {
            scenario,
            seed,
            calls: self.calls,
            program,
            fault: None,
            cluster: cluster.as_ref(),
        };
        match round.run(&mut Tally::default())? {
            None => {
                println!("{scenario:?} with seed {seed} and {} calls: no finding", self.calls);
                Ok(())
            }
            Some(failure) => anyhow::bail!("{failure}"),
        }
    }
}
