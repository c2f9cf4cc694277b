//! Lists in encodings other than JSON, relative to JSON, and the latency of concurrent GETs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use planesmith_e2e::{Connection, Endpoint};
use tokio::task::JoinSet;

use super::load::{self, Pool, Read, WRITERS, Writes};
use super::objects::{self, Sample};
use super::steady::{cpu_of, percentile};
use super::subject::{Program, Subject};

/// The number of Pods in a list.
const PODS: usize = 8_000;

/// The number of lists per round, two of them concurrent.
const LISTS: usize = 16;

/// The number of clients that list during GETs.
const LISTERS: usize = 2;

/// The number of consecutive GETs per round.
const GETS: usize = 500;

/// The pause between two GETs.
const INTERVAL: Duration = Duration::from_millis(2);

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    matches!(name, "list-protobuf" | "list-table" | "get-beside-lists")
}

/// A server full of Pods.
#[derive(Debug)]
pub(crate) struct HeavyLists {
    subject: Subject,
    divisor: usize,
}

impl HeavyLists {
    /// Starts a server and fills it.
    pub(crate) async fn start(program: &Program, quick: bool) -> Result<Self> {
        let (subject, _) = program.start().await?;
        eprintln!("filling a server with {PODS} Pods");
        subject.prepare().await?;
        let fill = Writes::creates(Sample::Pod, objects::READ_NAMESPACE, PODS);
        fill.run(&Pool::open(&subject.endpoint, WRITERS).await?).await?;
        let divisor = if quick { 4 } else { 1 };
        Ok(Self { subject, divisor })
    }

    /// Measures one round of the row called `name`.
    pub(crate) async fn measure(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        match name {
            "list-protobuf" => Ok(vec![("list-protobuf", self.over_json(PROTOBUF).await?)]),
            "list-table" => Ok(vec![("list-table", self.over_json(TABLE).await?)]),
            "get-beside-lists" => Ok(vec![("get-beside-lists", self.get_beside_lists().await?)]),
            other => unreachable!("{other} is no row of heavy lists"),
        }
    }

    /// Returns the processor time of lists as `accept`, relative to that of lists as JSON.
    async fn over_json(&self, accept: &'static str) -> Result<f64> {
        let pool = Pool::open(&self.subject.endpoint, LISTERS).await?;
        let mut costs = Vec::with_capacity(2);
        for accept in [accept, "application/json"] {
            let lists = LISTS / self.divisor;
            let (cpu, ()) = cpu_of(&self.subject, load::read(&pool, &pods(accept), lists, LISTERS)).await?;
            eprintln!("    {:.1} ms cpu as {accept}", cpu.as_secs_f64() * 1e3 / lists as f64);
            costs.push(cpu.as_secs_f64());
        }
        Ok(costs[0] / costs[1])
    }

    /// Returns the 99th percentile of GET latencies in milliseconds, during continuous protobuf lists.
    async fn get_beside_lists(&self) -> Result<f64> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut listers = JoinSet::new();
        for _ in 0..LISTERS {
            let pool = Pool::open(&self.subject.endpoint, 1).await?;
            let stop = Arc::clone(&stop);
            listers.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    load::read(&pool, &pods(PROTOBUF), 1, 1).await?;
                }
                anyhow::Ok(())
            });
        }
        let endpoint = self.subject.endpoint.clone();
        let gets = GETS / self.divisor;
        let path = Sample::Pod.object(objects::READ_NAMESPACE, &objects::name(PODS / 2));
        // A separate thread, so that GETs do not compete with reading lists.
        let measured = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(get(&endpoint, &path, gets))
        });
        let taken = tokio::task::spawn_blocking(move || measured.join()).await?;
        stop.store(true, Ordering::Relaxed);
        while let Some(listed) = listers.join_next().await {
            listed??;
        }
        let taken = taken.ok().context("the thread of the GETs panicked")??;
        Ok(percentile(taken, 99).as_secs_f64() * 1e3)
    }
}

fn pods(accept: &'static str) -> Read {
    let path = Sample::Pod.collection(objects::READ_NAMESPACE);
    Read { path, accept }
}

/// Reads `path` repeatedly at a steady pace. Returns the durations.
async fn get(endpoint: &Endpoint, path: &str, gets: usize) -> Result<Vec<Duration>> {
    let connection = Connection::open(endpoint).await?;
    let mut taken = Vec::with_capacity(gets);
    for _ in 0..gets {
        let begun = Instant::now();
        connection.get(path).await?.expect(200)?;
        taken.push(begun.elapsed());
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(taken)
}
