//! Operations on a server that is full and warm, and on the limit server with the same bytes.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use http::Method;
use planesmith_e2e::{Connection, Watch};

use super::load::{self, Pool, Write, Writes};
use super::report::Side;
use super::subject::Subject;
use super::watchers;
use super::{limit, objects};

/// How many objects are there to be listed.
pub(crate) const OBJECTS: usize = 5000;

/// How many objects the writers of the update rows take in turn.
const WRITTEN: usize = 1000;

const WRITERS: usize = 16;

/// Every reader and writer has a connection of its own, as separate clients have.
const CONNECTIONS: usize = WRITERS;

/// Whether the row called `name` is measured here.
pub(crate) fn measures(name: &str) -> bool {
    let is_custom = name.starts_with("definitions-") || name.starts_with("custom-");
    !is_custom && !matches!(name, "start" | "idle-memory" | "idle-cpu" | "used-memory")
}

/// The two servers that take turns.
#[derive(Debug)]
pub(crate) struct Steady {
    ours: Subject,
    limit: Subject,
    /// Operations of a round are divided by it.
    divisor: usize,
    watchers_per_connection: usize,
}

impl Steady {
    pub(crate) fn new(ours: Subject, limit: Subject, quick: bool, watchers_per_connection: usize) -> Self {
        Self {
            ours,
            limit,
            divisor: if quick { 5 } else { 1 },
            watchers_per_connection,
        }
    }

    fn side(&self, side: Side) -> &Subject {
        match side {
            Side::Ours => &self.ours,
            Side::Limit => &self.limit,
        }
    }

    /// Fills our server with the objects to read, and gives the limit server the same answers.
    pub(crate) async fn prepare(&self) -> Result<()> {
        eprintln!("filling the server with {OBJECTS} objects");
        self.ours.prepare().await?;
        self.ours.clear(objects::READ).await?;
        let pool = Pool::open(&self.ours.endpoint, CONNECTIONS).await?;
        let fill = Writes {
            how: Write::Create,
            namespace: objects::READ,
            prefix: "",
            objects: OBJECTS,
            total: OBJECTS,
            writers: WRITERS,
            round: 0,
        };
        fill.run(&pool).await?;
        let limit = Connection::open(&self.limit.endpoint).await?;
        for row in ["get", "list", "page", "selector"] {
            let path = read_path(row).context("a row that reads has a path")?;
            let answer = pool.connection(0).get(&path).await?.expect(200)?;
            eprintln!("    {path}: {} bytes", answer.body.len());
            let mirror = format!("{}{path}", limit::MIRROR);
            limit.call(Method::PUT, &mirror, answer.body).await?.expect(200)?;
        }
        Ok(())
    }

    /// One round of the row called `name`; some rows come in pairs.
    pub(crate) async fn measure(&self, name: &str, side: Side, round: usize) -> Result<Vec<(&'static str, f64)>> {
        let subject = self.side(side);
        let pool = Pool::open(&subject.endpoint, CONNECTIONS).await?;
        match name {
            "get" => self.read("get", subject, &pool, 20_000, 16, Micros).await,
            "list" => self.read("list", subject, &pool, 40, 2, Millis).await,
            "page" => self.read("page", subject, &pool, 400, 4, Millis).await,
            "selector" => self.read("selector", subject, &pool, 400, 4, Millis).await,
            "create" => self.create(subject, &pool, round).await,
            "latency" => self.latency(subject, &pool, round).await,
            "update" => self.change("update", Write::Update, subject, &pool, round).await,
            "patch" => self.change("patch", Write::MergePatch, subject, &pool, round).await,
            "apply" => self.change("apply", Write::Apply, subject, &pool, round).await,
            "watch" | "watch-p99" => self.watch(subject, &pool).await,
            "fan-out" | "burst" => self.fan_out(subject, &pool).await,
            other => unreachable!("{other} is no steady row"),
        }
    }

    async fn read(
        &self,
        row: &'static str,
        subject: &Subject,
        pool: &Pool,
        total: usize,
        at_once: usize,
        unit: CpuUnit,
    ) -> Result<Vec<(&'static str, f64)>> {
        let path = read_path(row).context("a row that reads has a path")?;
        let total = total / self.divisor;
        let (cpu, ()) = cpu_of(subject, load::read(pool, &path, total, at_once)).await?;
        Ok(vec![(row, unit.per(cpu, total))])
    }

    async fn create(&self, subject: &Subject, pool: &Pool, round: usize) -> Result<Vec<(&'static str, f64)>> {
        let total = 4000 / self.divisor;
        let prefix = format!("round-{round}-");
        let writes = writes(Write::Create, &prefix, total, WRITERS, round);
        let (cpu, _) = cpu_of(subject, writes.run(pool)).await?;
        subject.clear(objects::WRITTEN).await?;
        Ok(vec![("create", Micros.per(cpu, total))])
    }

    async fn latency(&self, subject: &Subject, pool: &Pool, round: usize) -> Result<Vec<(&'static str, f64)>> {
        let prefix = format!("alone-{round}-");
        let writes = writes(Write::Create, &prefix, 500 / self.divisor, 1, round);
        let taken = writes.run(pool).await?;
        subject.clear(objects::WRITTEN).await?;
        Ok(vec![("latency", percentile(taken, 50).as_secs_f64() * 1e3)])
    }

    async fn change(
        &self,
        row: &'static str,
        how: Write,
        subject: &Subject,
        pool: &Pool,
        round: usize,
    ) -> Result<Vec<(&'static str, f64)>> {
        if round == 0 {
            subject.clear(objects::WRITTEN).await?;
            writes(Write::Create, row, WRITTEN, WRITERS, 0).run(pool).await?;
        }
        let total = 4000 / self.divisor;
        let mut writes = writes(how, row, total, WRITERS, round + 1);
        writes.objects = WRITTEN;
        let (cpu, _) = cpu_of(subject, writes.run(pool)).await?;
        Ok(vec![(row, Micros.per(cpu, total))])
    }

    async fn watch(&self, subject: &Subject, pool: &Pool) -> Result<Vec<(&'static str, f64)>> {
        subject.clear(objects::WATCHED).await?;
        let opened = self.open_watches(subject, 200).await?;
        let events = 100 / self.divisor;
        let paced = watchers::paced(pool.connection(0), opened, events);
        let (cpu, delivery) = cpu_of(subject, paced).await?;
        ensure!(
            delivery.delivered == delivery.expected,
            "{} of {} events were delivered",
            delivery.delivered,
            delivery.expected
        );
        let p99 = percentile(delivery.latencies, 99).as_secs_f64() * 1e3;
        Ok(vec![("watch", Micros.per(cpu, delivery.delivered)), ("watch-p99", p99)])
    }

    async fn fan_out(&self, subject: &Subject, pool: &Pool) -> Result<Vec<(&'static str, f64)>> {
        subject.clear(objects::WATCHED).await?;
        let opened = self.open_watches(subject, 2000 / self.divisor).await?;
        let rapid = watchers::rapid(pool, opened, 100);
        let (cpu, delivery) = cpu_of(subject, rapid).await?;
        let percent = delivery.delivered as f64 / delivery.expected as f64 * 100.0;
        let each = Micros.per(cpu, delivery.delivered.max(1));
        Ok(vec![("fan-out", percent), ("burst", each)])
    }

    async fn open_watches(&self, subject: &Subject, watchers: usize) -> Result<Vec<Watch>> {
        let connections = watchers.div_ceil(self.watchers_per_connection);
        let shared = Pool::open(&subject.endpoint, connections).await?;
        watchers::open(&shared, objects::WATCHED, watchers).await
    }
}

fn writes(how: Write, prefix: &str, total: usize, writers: usize, round: usize) -> Writes<'_> {
    let namespace = objects::WRITTEN;
    Writes {
        how,
        namespace,
        prefix,
        objects: total,
        total,
        writers,
        round,
    }
}

/// What the row called `row` reads.
fn read_path(row: &str) -> Option<String> {
    let all = objects::collection(objects::READ);
    match row {
        "get" => Some(objects::object(objects::READ, &objects::name(OBJECTS / 2))),
        "list" => Some(all),
        "page" => Some(all + "?limit=500"),
        "selector" => Some(all + "?labelSelector=tier%3Dgold"),
        _ => None,
    }
}

/// In which unit processor time is shown.
#[derive(Clone, Copy, Debug)]
enum CpuUnit {
    Micros,
    Millis,
}
use CpuUnit::{Micros, Millis};

impl CpuUnit {
    fn per(self, cpu: Duration, operations: usize) -> f64 {
        let factor = match self {
            Micros => 1e6,
            Millis => 1e3,
        };
        cpu.as_secs_f64() * factor / operations as f64
    }
}

/// Runs `work` and returns the processor time that the server used meanwhile.
async fn cpu_of<T>(subject: &Subject, work: impl Future<Output = Result<T>>) -> Result<(Duration, T)> {
    let before = subject.processes.cpu()?;
    let result = work.await?;
    Ok((subject.processes.cpu()?.saturating_sub(before), result))
}

/// The duration that `percent` of `durations` do not exceed; zero of none.
fn percentile(mut durations: Vec<Duration>, percent: usize) -> Duration {
    durations.sort_unstable();
    let at = (durations.len() * percent).div_ceil(100).saturating_sub(1);
    durations.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let durations: Vec<_> = (1..=200).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(durations.clone(), 50), Duration::from_millis(100));
        assert_eq!(percentile(durations, 99), Duration::from_millis(198));
        assert_eq!(percentile(Vec::new(), 99), Duration::ZERO);
    }
}
