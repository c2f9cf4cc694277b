//! The cost of an operation with much data, divided by its cost with little.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use http::Method;
use planesmith_e2e::{Connection, Endpoint};
use tokio::task::JoinSet;

use super::load::{self, Pool, Read, WRITERS, Write, Writes};
use super::objects::{self, Sample};
use super::steady::{cpu_of, percentile};
use super::subject::{Program, Subject};
use super::watchers;

/// The number of objects on each server.
const FEW: usize = 3_000;
const MANY: usize = 200_000;

/// The number of watchers on each server.
const ONE: usize = 1;
const CROWD: usize = 2_000;

/// The number of creates per round; each is delivered before the next one starts.
const CREATES: usize = 60;

/// The pause between two creates, in which both sides become idle.
const PAUSE: Duration = Duration::from_millis(5);

/// The timeout for the delivery of an event to all watchers.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the server's commit thread.
const COMMITTER: &str = "store-commit";

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    is_of_objects(name) || matches!(name, "create-watched" | "commit-watched")
}

fn is_of_objects(name: &str) -> bool {
    matches!(name, "get-many" | "page-many" | "update-many")
}

/// Servers with much and with little data, measured alternately.
#[derive(Debug)]
pub(crate) struct Growth<'a> {
    program: &'a Program,
    divisor: usize,
    watchers_per_connection: usize,
    /// The servers with many and with few objects; started for the first row that needs them.
    filled: Option<[Subject; 2]>,
    /// The server for rows about watchers.
    watched: Option<Subject>,
    round: AtomicUsize,
}

impl<'a> Growth<'a> {
    pub(crate) fn new(program: &'a Program, quick: bool, watchers_per_connection: usize) -> Self {
        Self {
            program,
            divisor: if quick { 4 } else { 1 },
            watchers_per_connection,
            filled: None,
            watched: None,
            round: AtomicUsize::new(0),
        }
    }

    /// Starts and fills the servers for the row called `name`.
    pub(crate) async fn prepare(&mut self, name: &str) -> Result<()> {
        if is_of_objects(name) {
            if self.filled.is_none() {
                self.filled = Some([self.filled_with(MANY).await?, self.filled_with(FEW).await?]);
            }
        } else if self.watched.is_none() {
            self.filled = None;
            let (subject, _) = self.program.start().await?;
            subject.prepare().await?;
            self.watched = Some(subject);
        }
        Ok(())
    }

    async fn filled_with(&self, objects: usize) -> Result<Subject> {
        let (subject, _) = self.program.start().await?;
        eprintln!("filling a server with {objects} objects");
        subject.prepare().await?;
        let pool = Pool::open(&subject.endpoint, WRITERS).await?;
        writes(Write::Create, objects, objects, 0).run(&pool).await?;
        Ok(subject)
    }

    /// Measures one round of the row called `name`; the rows about watchers are measured together.
    pub(crate) async fn measure(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        let round = self.round.fetch_add(1, Ordering::Relaxed) + 1;
        match name {
            "get-many" => {
                let [many, few] = self.filled()?;
                let costs = [self.get(many, MANY).await?, self.get(few, FEW).await?];
                Ok(vec![("get-many", ratio(costs))])
            }
            "page-many" => {
                let [many, few] = self.filled()?;
                let page = Read::json(Sample::ConfigMap.collection(objects::READ_NAMESPACE) + "?limit=500");
                let costs = [self.page(many, &page).await?, self.page(few, &page).await?];
                Ok(vec![("page-many", ratio(costs))])
            }
            "update-many" => {
                let [many, few] = self.filled()?;
                let costs = [
                    self.update(many, MANY, round).await?,
                    self.update(few, FEW, round).await?,
                ];
                Ok(vec![("update-many", ratio(costs))])
            }
            "create-watched" | "commit-watched" => {
                let subject = self.watched.as_ref().context("the server is started before")?;
                let (crowd, one) = (self.watched(subject, CROWD).await?, self.watched(subject, ONE).await?);
                let latencies = ratio([crowd.latency, one.latency]);
                let commits = ratio([crowd.commit, one.commit]);
                Ok(vec![("create-watched", latencies), ("commit-watched", commits)])
            }
            other => unreachable!("{other} is no row of growth"),
        }
    }

    fn filled(&self) -> Result<&[Subject; 2]> {
        self.filled.as_ref().context("the servers are filled before")
    }

    /// Reads objects all over the collection, each on a connection of its own reader.
    async fn get(&self, subject: &Subject, objects: usize) -> Result<Duration> {
        let pool = Pool::open(&subject.endpoint, WRITERS).await?;
        let names = (0..64).map(|number| objects::name(number * (objects / 64)));
        let reads: Vec<_> = names
            .map(|name| Read::json(Sample::ConfigMap.object(objects::READ_NAMESPACE, &name)))
            .collect();
        let all = async {
            for read in &reads {
                load::read(&pool, read, 320 / self.divisor, WRITERS).await?;
            }
            Ok(())
        };
        Ok(cpu_of(subject, all).await?.0)
    }

    async fn page(&self, subject: &Subject, page: &Read) -> Result<Duration> {
        let pool = Pool::open(&subject.endpoint, 4).await?;
        let (cpu, ()) = cpu_of(subject, load::read(&pool, page, 400 / self.divisor, 4)).await?;
        Ok(cpu)
    }

    async fn update(&self, subject: &Subject, objects: usize, round: usize) -> Result<Duration> {
        let pool = Pool::open(&subject.endpoint, WRITERS).await?;
        let update = writes(Write::Update, objects, 4_000 / self.divisor, round);
        let (cpu, _) = cpu_of(subject, update.run(&pool)).await?;
        Ok(cpu)
    }

    /// Creates objects while `watchers` watches are open.
    async fn watched(&self, subject: &Subject, watchers: usize) -> Result<Watched> {
        subject.clear(Sample::ConfigMap, objects::WATCHED_NAMESPACE).await?;
        let pool = Pool::open(&subject.endpoint, watchers.div_ceil(self.watchers_per_connection)).await?;
        let opened = watchers::open(&pool, objects::WATCHED_NAMESPACE, watchers).await?;
        let creates = CREATES / self.divisor;
        let delivered = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for mut watcher in opened {
            let delivered = Arc::clone(&delivered);
            tasks.spawn(async move {
                for _ in 0..creates {
                    watcher.line().await?.context("a watch ended")?;
                    delivered.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            });
        }
        let endpoint = subject.endpoint.clone();
        let before = subject.processes.cpu_of_threads(COMMITTER)?;
        // A separate thread, so that creating does not compete with reading events.
        let created = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(create(&endpoint, creates, watchers, &delivered))
        });
        let taken = tokio::task::spawn_blocking(move || created.join()).await?;
        let taken = taken.ok().context("the thread of the creates panicked")??;
        let commit = subject.processes.cpu_of_threads(COMMITTER)?.saturating_sub(before);
        while let Some(task) = tasks.join_next().await {
            task??;
        }
        let latency = percentile(taken, 50);
        eprintln!(
            "    {watchers} watchers: {:.2} ms per create, {:.0} us of the committer",
            latency.as_secs_f64() * 1e3,
            commit.as_secs_f64() * 1e6 / creates as f64
        );
        Ok(Watched { latency, commit })
    }
}

/// The cost of creates while watches are open.
#[derive(Clone, Copy, Debug)]
struct Watched {
    /// The median time from a request to its response.
    latency: Duration,
    /// The processor time of the commit thread for all creates.
    commit: Duration,
}

/// Creates objects, each after the previous one has reached all `watchers`.
async fn create(
    endpoint: &Endpoint,
    creates: usize,
    watchers: usize,
    delivered: &AtomicUsize,
) -> Result<Vec<Duration>> {
    let writer = Connection::open(endpoint).await?;
    let mut taken = Vec::with_capacity(creates);
    let path = Sample::ConfigMap.collection(objects::WATCHED_NAMESPACE);
    for number in 0..creates {
        let body = Sample::ConfigMap.body(&objects::name(number), number, 0);
        let begun = Instant::now();
        writer.call(Method::POST, &path, body).await?.expect(201)?;
        taken.push(begun.elapsed());
        while delivered.load(Ordering::Relaxed) < (number + 1) * watchers {
            ensure!(begun.elapsed() < TIMEOUT, "an event did not reach all watchers");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(taken)
}

fn writes(how: Write, objects: usize, total: usize, round: usize) -> Writes<'static> {
    Writes {
        how,
        objects,
        round,
        ..Writes::creates(Sample::ConfigMap, objects::READ_NAMESPACE, total)
    }
}

fn ratio([much, little]: [Duration; 2]) -> f64 {
    much.as_secs_f64() / little.as_secs_f64()
}
