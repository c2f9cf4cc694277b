//! `cargo xtask bench`: the cost of a server's operations, compared with a minimal server.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use planesmith_e2e::Endpoint;

use crate::cargo::{built, cargo, rendered, run, workspace};
use access_cost::AccessCost;
use budget::{ROWS, Row};
use flood::Flood;
use growth::Growth;
use heavy_lists::HeavyLists;
use report::{Report, Side};
use steady::Steady;
use subject::{Program, Storage, Subject};
use transactions::Transactions;

mod access_cost;
mod budget;
mod churn;
mod content;
mod definitions;
mod etcd;
mod flood;
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
mod transactions;
mod watchers;

/// Measures a server's processor time per operation, its memory, start-up and idle load.
///
/// Builds the server and this task in release mode, starts the server on an empty folder, and beside it a minimal server that
/// sends the same bytes, as the limit. The two alternate, so that the ratio of their medians is valid on a noisy machine, where an
/// absolute figure is not. Prints one row for each operation, with its budget here and on the machine where budgets were set.
/// With `--storage etcd` the server keeps its objects in an etcd that is started beside it: reads have the same budgets, and writes
/// are compared with etcd's own transactions in the same run. With `--url`, another server is measured. For a first look: cargo xtask bench --only get --quick
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Measure only this row, such as `get` or `create`; can be repeated. A name that is not a row prints the names of all rows.
    /// Rows that take minutes are only measured when they are named: `definitions-churn` creates and deletes 1,000 definitions ten
    /// times, and compares the memory of the latter half of the rounds with the former; `million-start` fills a server with a
    /// million objects, kills it, and starts it again; `get-beside-flood` and `get-beside-crowd` send many requests and hold many
    /// connections beside a GET; `get-protected` and `create-protected` compare servers with and without access control.
    #[arg(long, value_name = "ROW")]
    only: Vec<String>,

    /// The number of times that each row is measured, 1 to 100; the table shows the medians.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,

    /// Perform a fifth of the operations per round, for a quick estimate that is less exact.
    #[arg(long)]
    quick: bool,

    /// The number of watches that share a connection in the rows with many watchers, 1 to 1000.
    ///
    /// More need fewer connections. Above the server's limit of streams per connection (100 here, 100 to 250 elsewhere) watches wait.
    #[arg(long, value_name = "N", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    watchers_per_connection: u16,

    /// Write all samples, medians and verdicts to this file as JSON, besides the printed table.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this server binary instead of building the workspace's, for example one of another commit.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    server: Option<PathBuf>,

    /// A folder with YAML files of real CustomResourceDefinitions, for the row `definitions-memory`.
    ///
    /// The files may be in subfolders; other objects in them are ignored. Without this option the row is skipped.
    #[arg(long, value_name = "FOLDER")]
    definitions: Option<PathBuf>,

    /// The folder below which the started servers keep their data [default: target/bench].
    ///
    /// Each server has a temporary folder of its own there. Its disk determines the cost of a durable write, so a folder in
    /// memory (tmpfs) measures no durability.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,

    /// The storage of the started server. Processor time with etcd is that of both processes.
    #[arg(long, value_enum, default_value_t, conflicts_with = "url")]
    storage: Storage,

    /// Measure a server that runs already, at https://HOST:PORT; rows that need a fresh server are skipped.
    ///
    /// Needs --token, --pid, and --ca or --insecure. The server must run on this machine, because its processor time is read
    /// from /proc. The namespaces and objects of the load remain there.
    #[arg(long, requires_all = ["token", "pid"])]
    url: Option<String>,

    /// The bearer token for `--url`; its user needs all permissions.
    #[arg(long)]
    token: Option<String>,

    /// The process id of the server at `--url`; can be repeated to add other processes, such as its database.
    #[arg(long)]
    pid: Vec<u32>,

    /// The certificate authority of the server at `--url`, as a PEM file.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,

    /// Do not verify the certificate of the server at `--url`.
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
        Err(bench.exec()).with_context(|| format!("starting {}", rendered(&bench)))
    }

    fn wanted(&self, row: &Row) -> bool {
        let is_chosen = match self.only.is_empty() {
            true => !row.is_long,
            false => self.only.iter().any(|name| name == row.name),
        };
        is_chosen && row.storage.is_none_or(|storage| storage == self.storage)
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
        Ok((Some(Program::ours(path, &folder, self.storage)), limit))
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
            self.measure_flood(&mut report, ours).await?;
            self.measure_access(&mut report, ours).await?;
            self.measure_growth(&mut report, ours).await?;
            self.measure_transactions(&mut report, ours).await?;
            self.measure_content(&mut report, ours).await;
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
        if let Some(row) = row("definitions-churn").or_else(|| row("definitions-churn-memory")) {
            eprintln!("{}", row.title);
            match churn::measure(program, self.quick).await {
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

    /// Measures the effect of one user's excess on others.
    async fn measure_flood(&self, report: &mut Report, program: &Program) -> Result<()> {
        let rows = ROWS.iter().filter(|row| flood::measures(row.name));
        let rows: Vec<_> = rows.filter(|row| self.wanted(row)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let flood = Flood::start(program, self.quick).await?;
        for row in rows {
            self.rounds_of(report, row, async || flood.measure(row.name).await)
                .await;
        }
        Ok(())
    }

    /// Measures the cost of access control, audit, flow control and encryption.
    async fn measure_access(&self, report: &mut Report, program: &Program) -> Result<()> {
        let rows = ROWS.iter().filter(|row| access_cost::measures(row.name));
        let rows: Vec<_> = rows.filter(|row| self.wanted(row)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let access = AccessCost::start(program, self.quick).await?;
        for row in rows {
            self.rounds_of(report, row, async || access.measure(row.name).await)
                .await;
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

    /// Measures writes on etcd.
    async fn measure_transactions(&self, report: &mut Report, program: &Program) -> Result<()> {
        let rows = ROWS.iter().filter(|row| transactions::measures(row.name));
        let rows: Vec<_> = rows.filter(|row| self.wanted(row)).collect();
        if rows.is_empty() {
            return Ok(());
        }
        let transactions = Transactions::start(program, self.quick).await?;
        for row in rows {
            self.rounds_of(report, row, async || transactions.measure(row.name).await)
                .await;
        }
        Ok(())
    }

    /// Measures servers with much content, once each.
    async fn measure_content(&self, report: &mut Report, program: &Program) {
        for row in ROWS.iter().filter(|row| self.wanted(row)) {
            let Some(content) = content::of(row.name).filter(|_| !report.has(row.name)) else {
                continue;
            };
            eprintln!("{}", row.title);
            match content.measure(program, self.quick).await {
                Ok(values) => report.add(Side::Ours, &values),
                Err(error) => report.fail(Side::Ours, row, &error),
            }
        }
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
