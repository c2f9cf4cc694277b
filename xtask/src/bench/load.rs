//! Bulk requests: a fixed number with a fixed concurrency, spread over a few connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use planesmith_e2e::{Connection, Endpoint};
use tokio::task::JoinSet;

use super::objects::{self, Sample};

/// The number of concurrent writers, unless a row says otherwise.
pub(crate) const WRITERS: usize = 16;

/// A pool of open connections, used in turn.
#[derive(Clone, Debug)]
pub(crate) struct Pool(Arc<[Connection]>);

impl Pool {
    pub(crate) async fn open(endpoint: &Endpoint, connections: usize) -> Result<Self> {
        let mut pool = Vec::with_capacity(connections);
        for _ in 0..connections {
            pool.push(Connection::open(endpoint).await?);
        }
        Ok(Self(pool.into()))
    }

    /// Returns the connection for worker or watcher `number`.
    pub(crate) fn connection(&self, number: usize) -> &Connection {
        &self.0[number % self.0.len()]
    }
}

/// A read request.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) path: String,
    /// The accepted media type.
    pub(crate) accept: &'static str,
}

impl Read {
    /// A read of `path` as JSON.
    pub(crate) fn json(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            accept: "application/json",
        }
    }
}

/// Performs the same read `total` times, `at_once` concurrently.
pub(crate) async fn read(pool: &Pool, read: &Read, total: usize, at_once: usize) -> Result<()> {
    let turn = Arc::new(AtomicUsize::new(0));
    let mut workers = JoinSet::new();
    for worker in 0..at_once {
        let connection = pool.connection(worker).clone();
        let (read, turn) = (read.clone(), Arc::clone(&turn));
        workers.spawn(async move {
            while turn.fetch_add(1, Ordering::Relaxed) < total {
                let request = connection.request(Method::GET, &read.path).header(ACCEPT, read.accept);
                let mut answer = connection.send(request.body(Bytes::new().into())?).await?;
                ensure!(
                    answer.status() == StatusCode::OK,
                    "GET {}: {}",
                    read.path,
                    answer.status()
                );
                while let Some(frame) = answer.body_mut().frame().await {
                    frame?;
                }
            }
            Ok(())
        });
    }
    finish(workers).await
}

/// The kind of a write request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Create,
    Update,
    MergePatch,
    Apply,
}

impl Write {
    fn method(self) -> Method {
        match self {
            Self::Create => Method::POST,
            Self::Update => Method::PUT,
            Self::MergePatch | Self::Apply => Method::PATCH,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Create | Self::Update => "application/json",
            Self::MergePatch => "application/merge-patch+json",
            Self::Apply => "application/apply-patch+yaml",
        }
    }

    fn path(self, sample: Sample, namespace: &str, name: &str) -> String {
        match self {
            Self::Create => sample.collection(namespace),
            Self::Update | Self::MergePatch => sample.object(namespace, name),
            Self::Apply => sample.object(namespace, name) + "?fieldManager=bench&force=true",
        }
    }

    fn body(self, sample: Sample, name: &str, number: usize, turn: usize) -> Bytes {
        match self {
            Self::Create | Self::Update | Self::Apply => sample.body(name, number, turn).into(),
            Self::MergePatch => format!(r#"{{"data":{{"turn":"{turn}"}}}}"#).into(),
        }
    }
}

/// A batch of writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writes<'a> {
    pub(crate) how: Write,
    pub(crate) sample: Sample,
    pub(crate) namespace: &'a str,
    /// The prefix of object names.
    pub(crate) prefix: &'a str,
    /// The number of objects, written in turn.
    pub(crate) objects: usize,
    pub(crate) total: usize,
    pub(crate) writers: usize,
    /// The number of the round, so that every write changes its object.
    pub(crate) round: usize,
}

impl<'a> Writes<'a> {
    /// Creates of `total` objects in `namespace`, by [`WRITERS`] writers.
    pub(crate) fn creates(sample: Sample, namespace: &'a str, total: usize) -> Self {
        Self {
            how: Write::Create,
            sample,
            namespace,
            prefix: "",
            objects: total,
            total,
            writers: WRITERS,
            round: 0,
        }
    }

    /// Performs all writes, and returns their durations in order of completion.
    pub(crate) async fn run(self, pool: &Pool) -> Result<Vec<Duration>> {
        let turn = Arc::new(AtomicUsize::new(0));
        let mut workers: JoinSet<Result<Vec<Duration>>> = JoinSet::new();
        for worker in 0..self.writers {
            let connection = pool.connection(worker).clone();
            let turn = Arc::clone(&turn);
            let (namespace, prefix) = (self.namespace.to_owned(), self.prefix.to_owned());
            workers.spawn(async move {
                let mut taken = Vec::new();
                loop {
                    let turn = turn.fetch_add(1, Ordering::Relaxed);
                    if turn >= self.total {
                        return Ok(taken);
                    }
                    let number = turn % self.objects;
                    let name = format!("{prefix}{}", objects::name(number));
                    let body = self
                        .how
                        .body(self.sample, &name, number, self.round * self.total + turn);
                    let path = self.how.path(self.sample, &namespace, &name);
                    let started = Instant::now();
                    write(&connection, self.how, &path, body).await?;
                    taken.push(started.elapsed());
                }
            });
        }
        let mut all = Vec::with_capacity(self.total);
        while let Some(taken) = workers.join_next().await {
            all.extend(taken??);
        }
        Ok(all)
    }
}

async fn write(connection: &Connection, how: Write, path: &str, body: Bytes) -> Result<()> {
    let request = connection
        .request(how.method(), path)
        .header(CONTENT_TYPE, how.media_type());
    let answer = connection.finish(request.body(body.into())?).await?;
    let status = answer.status;
    ensure!(
        status.is_success(),
        "{} {path}: {status} {}",
        how.method(),
        answer.excerpt()
    );
    Ok(())
}

async fn finish(mut workers: JoinSet<Result<()>>) -> Result<()> {
    while let Some(result) = workers.join_next().await {
        result??;
    }
    Ok(())
}
