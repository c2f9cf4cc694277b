//! Operations on a filled and warm server, and on the limit server with the same bytes.

use std::future::Future;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Method;
use http::header::ACCEPT;
use planesmith_e2e::{Connection, Watch};

use super::access_cost;
use super::content;
use super::flood;
use super::growth;
use super::heavy_lists;
use super::limit;
use super::load::{self, Pool, Read, WRITERS, Write, Writes};
use super::objects::{self, Sample};
use super::report::Side;
use super::subject::Subject;
use super::transactions;
use super::watchers;

/// The number of objects for lists.
pub(crate) const OBJECTS: usize = 5000;

/// The number of objects that the update rows write in turn.
const WRITTEN: usize = 1000;

/// Each reader and writer has its own connection, as separate clients have.
const CONNECTIONS: usize = WRITERS;

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    let is_custom = name.starts_with("definitions-") || name.starts_with("custom-");
    let is_fresh = matches!(name, "start" | "idle-memory" | "idle-cpu" | "used-memory");
    let is_of_others = heavy_lists::measures(name)
        || access_cost::measures(name)
        || flood::measures(name)
        || growth::measures(name)
        || content::of(name).is_some()
        || transactions::measures(name);
    !is_custom && !is_fresh && !is_of_others
}

/// The two servers, measured alternately.
#[derive(Debug)]
pub(crate) struct Steady {
    ours: Subject,
    limit: Subject,
    /// The divisor of the number of operations per round.
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

    /// Creates the objects to read, and copies the responses to the limit server.
    pub(crate) async fn prepare(&self) -> Result<()> {
        eprintln!("filling the server with {OBJECTS} objects");
        self.ours.prepare().await?;
        let pool = Pool::open(&self.ours.endpoint, CONNECTIONS).await?;
        self.fill(Sample::ConfigMap, &pool).await?;
        for row in ["get", "list", "page", "selector", "table"] {
            self.mirror(row, &pool).await?;
        }
        Ok(())
    }

    async fn fill(&self, sample: Sample, pool: &Pool) -> Result<()> {
        self.ours.clear(sample, objects::READ_NAMESPACE).await?;
        let fill = Writes::creates(sample, objects::READ_NAMESPACE, OBJECTS);
        fill.run(pool).await.map(drop)
    }

    /// Copies the response of the row called `row` to the limit server.
    async fn mirror(&self, row: &str, pool: &Pool) -> Result<()> {
        let read = what(row).context("a row that reads has a path")?;
        let connection = pool.connection(0);
        let request = connection.request(Method::GET, &read.path).header(ACCEPT, read.accept);
        let answer = connection
            .finish(request.body(Bytes::new().into())?)
            .await?
            .expect(200)?;
        eprintln!("    {}: {} bytes", read.path, answer.body.len());
        let limit = Connection::open(&self.limit.endpoint).await?;
        let mirror = format!("{}{}", limit::MIRROR, read.path);
        limit.call(Method::PUT, &mirror, answer.body).await?.expect(200)?;
        Ok(())
    }

    /// Measures one round of the row called `name`; some rows are measured in pairs.
    pub(crate) async fn measure(&self, name: &str, side: Side, round: usize) -> Result<Vec<(&'static str, f64)>> {
        let subject = self.side(side);
        let pool = Pool::open(&subject.endpoint, CONNECTIONS).await?;
        match name {
            "get" => self.read("get", subject, &pool, 20_000, 16, Micros).await,
            "list" => self.read("list", subject, &pool, 40, 2, Millis).await,
            "page" => self.read("page", subject, &pool, 400, 4, Millis).await,
            "selector" => self.read("selector", subject, &pool, 400, 4, Millis).await,
            "table" => self.read("table", subject, &pool, 200, 4, Millis).await,
            "list-pods" => {
                if round == 0 && side == Side::Ours {
                    self.fill(Sample::Pod, &pool).await?;
                    self.mirror("list-pods", &pool).await?;
                }
                self.read("list-pods", subject, &pool, 40, 2, Millis).await
            }
            "create" => self.create("create", Sample::ConfigMap, subject, &pool, round).await,
            "create-custom" => {
                self.create("create-custom", Sample::Gadget, subject, &pool, round)
                    .await
            }
            "create-pod" => self.create("create-pod", Sample::Pod, subject, &pool, round).await,
            "latency" => self.latency(subject, &pool, round).await,
            "update" => self.change("update", Write::Update, subject, &pool, round).await,
            "patch" => self.change("patch", Write::MergePatch, subject, &pool, round).await,
            "apply" => self.change("apply", Write::Apply, subject, &pool, round).await,
            "watch" | "watch-p99" => self.watch(subject, &pool).await,
            "fan-out" | "burst" => self.fan_out(["fan-out", "burst"], 2000, subject, &pool).await,
            "fan-out-5000" | "burst-5000" => self.fan_out(["fan-out-5000", "burst-5000"], 5000, subject, &pool).await,
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
        let read = what(row).context("a row that reads has a path")?;
        let total = total / self.divisor;
        let (cpu, ()) = cpu_of(subject, load::read(pool, &read, total, at_once)).await?;
        Ok(vec![(row, unit.per(cpu, total))])
    }

    async fn create(
        &self,
        row: &'static str,
        sample: Sample,
        subject: &Subject,
        pool: &Pool,
        round: usize,
    ) -> Result<Vec<(&'static str, f64)>> {
        let total = 4000 / self.divisor;
        let prefix = format!("round-{round}-");
        let mut writes = writes(Write::Create, &prefix, total, WRITERS, round);
        writes.sample = sample;
        let (cpu, _) = cpu_of(subject, writes.run(pool)).await?;
        subject.clear(sample, objects::WRITTEN_NAMESPACE).await?;
        Ok(vec![(row, Micros.per(cpu, total))])
    }

    async fn latency(&self, subject: &Subject, pool: &Pool, round: usize) -> Result<Vec<(&'static str, f64)>> {
        let prefix = format!("alone-{round}-");
        let writes = writes(Write::Create, &prefix, 500 / self.divisor, 1, round);
        let taken = writes.run(pool).await?;
        subject.clear(Sample::ConfigMap, objects::WRITTEN_NAMESPACE).await?;
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
            subject.clear(Sample::ConfigMap, objects::WRITTEN_NAMESPACE).await?;
            writes(Write::Create, row, WRITTEN, WRITERS, 0).run(pool).await?;
        }
        let total = 4000 / self.divisor;
        let mut writes = writes(how, row, total, WRITERS, round + 1);
        writes.objects = WRITTEN;
        let (cpu, _) = cpu_of(subject, writes.run(pool)).await?;
        Ok(vec![(row, Micros.per(cpu, total))])
    }

    async fn watch(&self, subject: &Subject, pool: &Pool) -> Result<Vec<(&'static str, f64)>> {
        subject.clear(Sample::ConfigMap, objects::WATCHED_NAMESPACE).await?;
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

    /// Measures `rapid` events with many watchers: the delivered share, and the cost per event.
    async fn fan_out(
        &self,
        [share, each]: [&'static str; 2],
        watchers: usize,
        subject: &Subject,
        pool: &Pool,
    ) -> Result<Vec<(&'static str, f64)>> {
        subject.clear(Sample::ConfigMap, objects::WATCHED_NAMESPACE).await?;
        let opened = self.open_watches(subject, watchers / self.divisor).await?;
        let rapid = watchers::rapid(pool, opened, 100);
        let (cpu, delivery) = cpu_of(subject, rapid).await?;
        let percent = delivery.delivered as f64 / delivery.expected as f64 * 100.0;
        let cost = Micros.per(cpu, delivery.delivered.max(1));
        Ok(vec![(share, percent), (each, cost)])
    }

    async fn open_watches(&self, subject: &Subject, watchers: usize) -> Result<Vec<Watch>> {
        let connections = watchers.div_ceil(self.watchers_per_connection);
        let shared = Pool::open(&subject.endpoint, connections).await?;
        watchers::open(&shared, objects::WATCHED_NAMESPACE, watchers).await
    }
}

fn writes(how: Write, prefix: &str, total: usize, writers: usize, round: usize) -> Writes<'_> {
    Writes {
        how,
        prefix,
        writers,
        round,
        ..Writes::creates(Sample::ConfigMap, objects::WRITTEN_NAMESPACE, total)
    }
}

/// Returns the read request of the row called `row`.
fn what(row: &str) -> Option<Read> {
    let all = Sample::ConfigMap.collection(objects::READ_NAMESPACE);
    let path = match row {
        "get" => Sample::ConfigMap.object(objects::READ_NAMESPACE, &objects::name(OBJECTS / 2)),
        "list" => all,
        "page" => all + "?limit=500",
        "selector" => all + "?labelSelector=tier%3Dgold",
        // The query states the default explicitly, so that the limit server has a distinct path.
        "table" => all + "?limit=500&includeObject=Metadata",
        "list-pods" => Sample::Pod.collection(objects::READ_NAMESPACE),
        _ => return None,
    };
    let mut read = Read::json(path);
    if row == "table" {
        read.accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    }
    Some(read)
}

/// The unit of processor time figures.
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

/// Runs `work` and returns the processor time that the server used for it.
pub(crate) async fn cpu_of<T>(subject: &Subject, work: impl Future<Output = Result<T>>) -> Result<(Duration, T)> {
    let before = subject.processes.cpu()?;
    let result = work.await?;
    Ok((subject.processes.cpu()?.saturating_sub(before), result))
}

/// Returns the duration that `percent` of `durations` do not exceed; zero if there are none.
pub(crate) fn percentile(mut durations: Vec<Duration>, percent: usize) -> Duration {
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
