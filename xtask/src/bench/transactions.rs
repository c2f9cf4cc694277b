//! Writes of a server on etcd, divided by transactions of etcd itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use bytes::Bytes;

use super::load::{Pool, WRITERS, Writes};
use super::objects::{self, Sample};
use super::steady::{cpu_of, percentile};
use super::subject::{Program, Subject};

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    matches!(name, "etcd-create" | "etcd-latency")
}

/// A server on an etcd, which both write to.
#[derive(Debug)]
pub(crate) struct Transactions {
    subject: Subject,
    divisor: usize,
    round: AtomicUsize,
    /// An object as the server stores it, nearly: its canonical bytes.
    value: Bytes,
}

impl Transactions {
    pub(crate) async fn start(program: &Program, quick: bool) -> Result<Self> {
        let (subject, _) = program.start().await?;
        subject.prepare().await?;
        let pool = Pool::open(&subject.endpoint, 1).await?;
        let name = "value-";
        writes(name, 1, 1).run(&pool).await?;
        let path = Sample::ConfigMap.object(objects::WRITTEN_NAMESPACE, &format!("{name}{}", objects::name(0)));
        let value = pool.connection(0).get(&path).await?.expect(200)?.body;
        Ok(Self {
            subject,
            divisor: if quick { 5 } else { 1 },
            round: AtomicUsize::new(0),
            value,
        })
    }

    /// Measures one round of the row called `name`.
    pub(crate) async fn measure(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        let (row, writers, total) = match name {
            "etcd-create" => ("etcd-create", WRITERS, 4000 / self.divisor),
            _ => ("etcd-latency", 1, 500 / self.divisor),
        };
        let etcd = self.subject.etcd().context("the server has an etcd of its own")?;
        let pool = Pool::open(&self.subject.endpoint, writers).await?;
        let prefix = format!("{row}-{round}-");
        let ours = self.cost(writes(&prefix, total, writers).run(&pool)).await?;
        let key = format!("/bench/{prefix}");
        let theirs = self.cost(etcd.create_all(&key, &self.value, total, writers)).await?;
        eprintln!(
            "    a write takes {:.2} ms (p50) and {:.0} us of processor time, a transaction of etcd {:.2} ms and {:.0} us",
            ours.median.as_secs_f64() * 1e3,
            ours.cpu.as_secs_f64() * 1e6 / total as f64,
            theirs.median.as_secs_f64() * 1e3,
            theirs.cpu.as_secs_f64() * 1e6 / total as f64,
        );
        self.subject
            .clear(Sample::ConfigMap, objects::WRITTEN_NAMESPACE)
            .await?;
        let ratio = match writers {
            1 => ours.median.as_secs_f64() / theirs.median.as_secs_f64(),
            _ => ours.elapsed.as_secs_f64() / theirs.elapsed.as_secs_f64(),
        };
        Ok(vec![(row, ratio)])
    }

    async fn cost(&self, work: impl Future<Output = Result<Vec<Duration>>>) -> Result<Cost> {
        let begun = Instant::now();
        let (cpu, taken) = cpu_of(&self.subject, work).await?;
        Ok(Cost {
            elapsed: begun.elapsed(),
            median: percentile(taken, 50),
            cpu,
        })
    }
}

/// The cost of many writes.
#[derive(Clone, Copy, Debug)]
struct Cost {
    elapsed: Duration,
    median: Duration,
    /// Processor time of the server and etcd.
    cpu: Duration,
}

fn writes(prefix: &str, total: usize, writers: usize) -> Writes<'_> {
    Writes {
        prefix,
        writers,
        ..Writes::creates(Sample::ConfigMap, objects::WRITTEN_NAMESPACE, total)
    }
}
