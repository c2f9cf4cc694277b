//! `cargo xtask bench`: the cost of a server's operations, compared with a minimal server.

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

/// Measures a server's processor time per operation, its memory, start-up and idle load.
///
/// Starts the release build of the server on an empty folder, and a minimal server that sends the same bytes, as the limit. The
/// two alternate, so that the ratio of their medians is valid on a noisy machine, where an absolute figure is not. With
/// `--url`, another server is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Measure only this row; can be repeated. An unknown name lists all rows.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,

    /// The number of rounds, of which the median counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// Perform a fifth of the operations per round, for a quick estimate.
    #[arg(long)]
    quick: bool,

    /// The number of watchers per connection; servers allow 100 to 250.
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    watchers_per_connection: u16,

    /// Write all samples to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this binary instead of building the workspace's server.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    server: Option<PathBuf>,

    /// A folder with real definitions, to measure their memory; without it, that row is omitted.
    #[arg(long, value_name = "FOLDER")]
    definitions: Option<PathBuf>,

    /// The data folder of the servers started here. Its file system determines the cost of a durable write.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// Measure a running server at this address, given as https://HOST:PORT.
    #[arg(long, requires_all = ["token", "pid"])]
    url: Option<String>,

    /// The bearer token for `--url`; it needs full access.
    #[arg(long)]
    token: Option<String>,

    /// A process of the server at `--url`; can be repeated, for example for its database.
    #[arg(long)]
    pid: Vec<u32>,

    /// The certificate authority of the server at `--url`, as a PEM file.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Skip certificate verification for `--url`.
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

    /// Runs the same command from a release build: a slow load generator would compete with the measured server for processor
    /// time, and the limit server must be as fast as possible.
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
        ensure!(
            path.is_file(),
            "{} is not a file; name another one with --server",
            path.display()
        );
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

    /// Measures the rows that need an unused server.
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

    /// Measures the cost of custom kinds, for which there is no limit.
    async fn measure_definitions(&self, report: &mut Report, program: &Program) {
        let row = |name| budget::find(name).filter(|row| self.wanted(row));
        if let Some(row) = row("definitions-memory") {
            eprintln!("{}", row.title);
            match &self.definitions {
                Some(folder) => match definitions::real_memory(program, folder).await {
                    Ok(megabytes) => report.add(Side::Ours, &[(row.name, megabytes)]),
                    Err(error) => report.fail(Side::Ours, row, &error),
                },
                None => eprintln!("    skipped: --definitions is not set"),
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

    /// Measures lists in other encodings than JSON, and their effect on concurrent requests.
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

    /// Measures operations whose cost grows with the number of objects or watchers.
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

    /// Runs the rounds of a row without a limit.
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
