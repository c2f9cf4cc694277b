//! `cargo xtask bench`: what a server's answers cost, beside what they would cost at least.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use planesmith_e2e::Endpoint;

use crate::cargo::{built, cargo, run, shown, workspace};
use budget::{ROWS, Row};
use growth::Growth;
use heavy_lists::HeavyLists;
use report::{Report, Side};
use steady::Steady;
use subject::{Program, Subject};

mod budget;
mod definitions;
mod growth;
mod heavy_lists;
mod lifecycle;
pub(crate) mod limit;
mod load;
mod objects;
mod process;
mod report;
mod steady;
mod subject;
mod watchers;

/// Measures a server's processor time per operation, its memory, start-up and idling.
///
/// Starts the release build of the server on an empty folder, and beside it a bare server that
/// sends the same bytes: the limit. The two take turns, so that a ratio of their medians holds on a
/// noisy machine where an absolute figure does not. With `--url` another server is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Measure this row only; may be repeated. A wrong name lists all of them.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// Rounds, of which the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// A fifth of the operations per round: for a first look.
    #[arg(long)]
    quick: bool,

    /// How many watchers share a connection; servers allow 100 to 250.
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    watchers_per_connection: u16,

    /// Write all samples to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this binary instead of building ours.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    server: Option<PathBuf>,

    /// Where real definitions are, for the memory that they take; without it that row is left out.
    #[arg(long, value_name = "FOLDER")]
    definitions: Option<PathBuf>,

    /// Where the servers started here keep their data. Its file system decides what a durable
    /// write costs.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Measure the server that runs at this address, as https://HOST:PORT.
    #[arg(long, requires_all = ["token", "pid"])]
    url: Option<String>,

    /// The bearer token for `--url`; it must be allowed everything.
    #[arg(long)]
    token: Option<String>,

    /// A process of the server at `--url`; may be repeated, for its database for example.
    #[arg(long)]
    pid: Vec<u32>,

    /// The authority of the certificate at `--url`, as a PEM file.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Take any certificate at `--url`.
    #[arg(long, conflicts_with = "ca")]
    insecure: bool,
}

impl Bench {
    pub(crate) fn run(&self) -> Result<()> {
        for name in &self.only {
            if budget::find(name).is_none() {
                let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
                bail!("--only is {name}; expected one of {}", names.join(", "));
            }
        }
        if cfg!(debug_assertions) {
            return self.run_optimized();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let report = runtime.block_on(self.measure())?;
        report.print();
        if let Some(path) = &self.json {
            std::fs::write(path, report.json()).with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(())
    }

    /// Runs the same command from a release build: a slow load generator would take processor time
    /// from the server it measures, and the limit server must be as fast as it can be.
    fn run_optimized(&self) -> Result<()> {
        let mut build = cargo();
        build.args(["build", "--release", "--package", "planesmith-xtask"]);
        if self.url.is_none() && self.server.is_none() {
            build.args(["--package", "planesmith"]);
        }
        run(&mut build)?;
        let mut bench = Command::new(built("release", "planesmith-xtask"));
        bench.args(std::env::args_os().skip(1));
        Err(bench.exec()).with_context(|| format!("starting {}", shown(&bench)))
    }

    fn wanted(&self, row: &Row) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == row.name)
    }

    fn programs(&self) -> Result<(Option<Program>, Program)> {
        let folder = self.folder.clone().unwrap_or_else(|| workspace().join("target/bench"));
        let limit = Program::limit(&folder)?;
        if self.url.is_some() {
            return Ok((None, limit));
        }
        let path = self.server.clone().unwrap_or_else(|| built("release", "planesmith"));
        ensure!(path.is_file(), "{} is no file; --server names another", path.display());
        Ok((Some(Program::ours(path, &folder)), limit))
    }

    async fn measure(&self) -> Result<Report> {
        let (ours, limit) = self.programs()?;
        let mut report = Report::default();
        if let Some(ours) = &ours {
            for (side, program) in [(Side::Ours, ours), (Side::Limit, &limit)] {
                self.measure_fresh(&mut report, side, program).await?;
            }
            self.measure_definitions(&mut report, ours).await;
            self.measure_heavy_lists(&mut report, ours).await?;
            self.measure_growth(&mut report, ours).await?;
        }
        let rows: Vec<_> = ROWS.iter().filter(|row| self.wanted(row)).collect();
        if !rows.iter().any(|row| steady::measures(row.name)) {
            return Ok(report);
        }
        let subject = match ours {
            Some(program) => program.start().await?.0,
            None => self.running()?,
        };
        let together = usize::from(self.watchers_per_connection);
        let steady = Steady::new(subject, limit.start().await?.0, self.quick, together);
        steady.prepare().await?;
        for row in rows.into_iter().filter(|row| steady::measures(row.name)) {
            if report.has(row.name) {
                continue;
            }
            eprintln!("{}", row.title);
            for round in 0..self.rounds {
                for side in [Side::Ours, Side::Limit] {
                    match steady.measure(row.name, side, round as usize).await {
                        Ok(values) => report.add(side, &values),
                        Err(error) => report.fail(side, row, &error),
                    }
                }
                report.progress(row, round);
            }
        }
        Ok(report)
    }

    /// What needs a server that nobody has used yet.
    async fn measure_fresh(&self, report: &mut Report, side: Side, program: &Program) -> Result<()> {
        let row = |name| budget::find(name).filter(|row| self.wanted(row));
        if let Some(row) = row("start") {
            eprintln!("{} ({})", row.title, side.name());
            for _ in 0..self.rounds {
                report.add(side, &[(row.name, lifecycle::start(program).await?)]);
            }
        }
        let rows = ["idle-memory", "idle-cpu", "used-memory"].map(row);
        if rows.iter().all(Option::is_none) {
            return Ok(());
        }
        let (subject, _) = program.start().await?;
        for row in rows.into_iter().flatten() {
            eprintln!("{} ({})", row.title, side.name());
            let value = match row.name {
                "idle-memory" => lifecycle::idle_memory(&subject).await,
                "idle-cpu" => lifecycle::idle_cpu(&subject).await,
                _ => lifecycle::used_memory(&subject, steady::OBJECTS).await,
            };
            match value {
                Ok(value) => report.add(side, &[(row.name, value)]),
                Err(error) => report.fail(side, row, &error),
            }
        }
        Ok(())
    }

    /// What kinds of one's own cost; the limit has none.
    async fn measure_definitions(&self, report: &mut Report, program: &Program) {
        let row = |name| budget::find(name).filter(|row| self.wanted(row));
        if let Some(row) = row("definitions-memory") {
            eprintln!("{}", row.title);
            match &self.definitions {
                Some(folder) => match definitions::real_memory(program, folder).await {
                    Ok(megabytes) => report.add(Side::Ours, &[(row.name, megabytes)]),
                    Err(error) => report.fail(Side::Ours, row, &error),
                },
                None => eprintln!("    left out: --definitions says where they are"),
            }
        }
        if let Some(row) = row("definitions-install") {
            eprintln!("{}", row.title);
            match definitions::many(program).await {
                Ok(values) => report.add(Side::Ours, &values),
                Err(error) => report.fail(Side::Ours, row, &error),
            }
        }
    }

    /// Lists in forms that are made for their client, and what they do to others.
    async fn measure_heavy_lists(&self, report: &mut Report, program: &Program) -> Result<()> {
        let rows: Vec<_> = ROWS.iter().filter(|row| heavy_lists::measures(row.name)).collect();
        if rows.iter().any(|row| self.wanted(row)) {
            let lists = HeavyLists::start(program, self.quick).await?;
            for row in rows.into_iter().filter(|row| self.wanted(row)) {
                self.rounds_of(report, row, async || lists.measure(row.name).await)
                    .await;
            }
        }
        Ok(())
    }

    /// Measures operations that cost more with more objects or watchers.
    async fn measure_growth(&self, report: &mut Report, program: &Program) -> Result<()> {
        let rows: Vec<_> = ROWS.iter().filter(|row| growth::measures(row.name)).collect();
        if rows.iter().any(|row| self.wanted(row)) {
            let together = usize::from(self.watchers_per_connection);
            let mut growth = Growth::new(program, self.quick, together);
            for row in rows.into_iter().filter(|row| self.wanted(row)) {
                if !report.has(row.name) {
                    growth.prepare(row.name).await?;
                    self.rounds_of(report, row, async || growth.measure(row.name).await)
                        .await;
                }
            }
        }
        Ok(())
    }

    /// The rounds of a row that has no limit.
    async fn rounds_of(
        &self,
        report: &mut Report,
        row: &Row,
        measure: impl AsyncFn() -> Result<Vec<(&'static str, f64)>>,
    ) {
        eprintln!("{}", row.title);
        for round in 0..self.rounds {
            match measure().await {
                Ok(values) => report.add(Side::Ours, &values),
                Err(error) => report.fail(Side::Ours, row, &error),
            }
            report.progress(row, round);
        }
    }

    fn running(&self) -> Result<Subject> {
        let (Some(url), Some(token)) = (&self.url, &self.token) else {
            bail!("--url needs --token and --pid");
        };
        ensure!(
            self.ca.is_some() || self.insecure,
            "--url needs --ca FILE, or else --insecure"
        );
        let endpoint = Endpoint::new(url, token, self.ca.as_deref())?;
        Ok(Subject::running(endpoint, self.pid.clone()))
    }
}
