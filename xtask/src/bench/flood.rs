//! Latency of one user's GETs beside another user's excess, relative to a quiet server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Connection, Endpoint};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

use super::load::{Pool, WRITERS, Writes};
use super::objects::{self, Sample};
use super::steady::percentile;
use super::subject::{Program, Subject};

/// Number of Pods in each list.
const PODS: usize = 2_000;

/// Number of concurrent lists, and of connections that they share.
const LISTS: usize = 2_000;
const CONNECTIONS: usize = 20;

/// Number of watches, and of connections that they share.
const WATCHES: usize = 20_000;
const WATCHING: usize = 200;

/// Number of connections without requests.
const IDLE: usize = 10_000;

/// Number of consecutive GETs per round, and the pause between two.
const GETS: usize = 1_000;
const INTERVAL: Duration = Duration::from_millis(5);

/// The user with the excess, and the one who does not want to notice it.
const GREEDY: &str = "greedy";
const PATIENT: &str = "patient";

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    matches!(name, "get-beside-flood" | "get-beside-crowd")
}

/// A server with Pods.
#[derive(Debug)]
pub(crate) struct Flood {
    subject: Subject,
    divisor: usize,
}

/// The answers to the flood so far.
#[derive(Debug, Default)]
struct Answers {
    served: AtomicUsize,
    rejected: AtomicUsize,
}

impl Flood {
    /// Starts a server and fills it.
    pub(crate) async fn start(program: &Program, quick: bool) -> Result<Self> {
        let (subject, _) = program.start().await?;
        subject.prepare().await?;
        let fill = Writes::creates(Sample::Pod, objects::READ_NAMESPACE, PODS);
        fill.run(&Pool::open(&subject.endpoint, WRITERS).await?).await?;
        let divisor = if quick { 4 } else { 1 };
        Ok(Self { subject, divisor })
    }

    /// Measures one round of the row called `name`.
    pub(crate) async fn measure(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        match name {
            "get-beside-flood" => Ok(vec![("get-beside-flood", self.beside_lists().await?)]),
            "get-beside-crowd" => Ok(vec![("get-beside-crowd", self.beside_watches().await?)]),
            other => unreachable!("{other} is no row of floods"),
        }
    }

    /// Returns the 99th percentile of GET latencies beside lists without end, relative to that without them.
    async fn beside_lists(&self) -> Result<f64> {
        let quiet = self.gets().await?;
        let stop = Arc::new(AtomicBool::new(false));
        let answers = Arc::new(Answers::default());
        let remote = Remote::start()?;
        let mut lists = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let endpoint = self.subject.endpoint.clone();
            let connection = remote
                .handle()
                .spawn(async move { Connection::open(&endpoint).await })
                .await??;
            for _ in 0..LISTS / CONNECTIONS {
                let (connection, stop, answers) = (connection.clone(), Arc::clone(&stop), Arc::clone(&answers));
                let list = async move { list(&connection, &stop, &answers).await };
                lists.spawn_on(list, remote.handle());
            }
        }
        let begun = Instant::now();
        while answers.served.load(Ordering::Relaxed) == 0 {
            ensure!(begun.elapsed() < Duration::from_secs(60), "no list was answered");
            tokio::time::sleep(INTERVAL).await;
        }
        let beside = self.gets().await;
        stop.store(true, Ordering::Relaxed);
        while let Some(listed) = lists.join_next().await {
            listed??;
        }
        drop(remote);
        let beside = beside?;
        let (served, rejected) = (&answers.served, &answers.rejected);
        report(
            quiet,
            beside,
            &format!(
                "{} lists, {} rejected, {:.0} MB at most",
                served.load(Ordering::Relaxed),
                rejected.load(Ordering::Relaxed),
                self.megabytes()?
            ),
        );
        Ok(beside / quiet)
    }

    /// Returns the 99th percentile of GET latencies beside many watches and idle connections, relative to that without them.
    async fn beside_watches(&self) -> Result<f64> {
        let quiet = self.gets().await?;
        let mut watches = Vec::new();
        let path = format!(
            "{}?watch=1&resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
            Sample::ConfigMap.collection(objects::WATCHED_NAMESPACE)
        );
        for _ in 0..WATCHING {
            let connection = Connection::open(&self.subject.endpoint).await?;
            let begun = (0..WATCHES / WATCHING).map(|_| watch(&connection, &path));
            watches.extend(futures_util::future::try_join_all(begun).await?);
        }
        let mut idle = Vec::new();
        for _ in 0..IDLE {
            idle.push(self.subject.endpoint.open("h2").await.context("an idle connection")?);
        }
        let beside = self.gets().await?;
        let crowd = format!(
            "{} watches, {} idle connections, {:.0} MB at most",
            watches.len(),
            idle.len(),
            self.megabytes()?
        );
        report(quiet, beside, &crowd);
        drop((watches, idle));
        Ok(beside / quiet)
    }

    fn megabytes(&self) -> Result<f64> {
        Ok(self.subject.processes.memory()?.peak as f64 / 1e6)
    }

    /// Returns the 99th percentile of GETs at a steady pace, in milliseconds.
    async fn gets(&self) -> Result<f64> {
        let (endpoint, gets) = (self.subject.endpoint.clone(), GETS / self.divisor);
        // A separate thread, so that GETs do not compete with reading lists.
        let measured = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(get(&endpoint, gets))
        });
        let taken = tokio::task::spawn_blocking(move || measured.join()).await?;
        let taken = taken.ok().context("the thread of the GETs panicked")??;
        Ok(percentile(taken, 99).as_secs_f64() * 1e3)
    }
}

/// The processors of clients on other machines: threads that run while no other thread wants to.
struct Remote(Option<Runtime>);

impl Remote {
    fn start() -> Result<Self> {
        let yielding = || {
            // Of this thread alone, as always on Linux.
            if let Err(error) = rustix::process::setpriority_process(None, 19) {
                eprintln!("the flood competes with the server for processors: {error}");
            }
        };
        let mut builder = Builder::new_multi_thread();
        Ok(Self(Some(builder.enable_all().on_thread_start(yielding).build()?)))
    }

    fn handle(&self) -> &Handle {
        self.0.as_ref().expect("it is there until it is dropped").handle()
    }
}

impl Drop for Remote {
    /// Does not wait for the threads: a runtime must not, from within another one.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn report(quiet: f64, beside: f64, excess: &str) {
    eprintln!("    {quiet:.2} ms quiet, {beside:.2} ms beside {excess}");
}

fn request(connection: &Connection, user: &str, path: &str) -> Result<http::Request<planesmith_e2e::RequestBody>> {
    let request = connection.request(Method::GET, path).header("impersonate-user", user);
    Ok(request.body(Bytes::new().into())?)
}

/// Lists until `stop`.
async fn list(connection: &Connection, stop: &AtomicBool, answers: &Answers) -> Result<()> {
    let path = Sample::Pod.collection(objects::READ_NAMESPACE);
    while !stop.load(Ordering::Relaxed) {
        let answer = connection.finish(request(connection, GREEDY, &path)?).await?;
        match answer.status.as_u16() {
            200 => answers.served.fetch_add(1, Ordering::Relaxed),
            429 => {
                // A well-behaved client would wait for a second.
                tokio::time::sleep(Duration::from_millis(100)).await;
                answers.rejected.fetch_add(1, Ordering::Relaxed)
            }
            _ => anyhow::bail!("{}: {}", answer.status, answer.excerpt()),
        };
    }
    Ok(())
}

async fn watch(connection: &Connection, path: &str) -> Result<http::Response<hyper::body::Incoming>> {
    loop {
        let answer = connection.send(request(connection, GREEDY, path)?).await?;
        match answer.status().as_u16() {
            200 => return Ok(answer),
            429 => tokio::time::sleep(INTERVAL).await,
            code => anyhow::bail!("a watch is answered {code}"),
        }
    }
}

/// Reads an object repeatedly at a steady pace. Returns the durations.
async fn get(endpoint: &Endpoint, gets: usize) -> Result<Vec<Duration>> {
    let connection = Connection::open(endpoint).await?;
    let path = Sample::Pod.object(objects::READ_NAMESPACE, &objects::name(PODS / 2));
    let mut taken = Vec::with_capacity(gets);
    for _ in 0..gets {
        let begun = Instant::now();
        connection
            .finish(request(&connection, PATIENT, &path)?)
            .await?
            .expect(200)?;
        taken.push(begun.elapsed());
        tokio::time::sleep(INTERVAL).await;
    }
    Ok(taken)
}
